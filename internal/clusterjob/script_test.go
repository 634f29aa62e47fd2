//go:build unix

package clusterjob

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The sidecars' scripts, with programs in place of rclone and sleep: run.json goes last, and
// what is there when the pod ends is stored once more.
func TestScripts(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("/bin/sh")
	if err != nil {
		t.Skip(err)
	}
	bin, here := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"rclone": "#!/bin/sh\necho \"$@\"\n", "sleep": "#!/bin/sh\n"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const others, last = "copy --exclude .* --exclude run.json ", "copy --include run.json "
	gone := filepath.Join(here, "gone")
	for _, c := range []struct {
		name, script string
		args         []string
		copied       string // the arguments of each round's copies
		atTheEnd     string // those of the last ones
	}{
		{"store", storeScript, []string{here, "to"}, here + " to", here + " to"},
		{"merge", mergeScript, []string{"from", "shards", here, "merged"}, "from shards", here + " merged"},
		{"merge that failed", mergeScript, []string{"from", "shards", gone, "merged"}, "from shards", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), shell, append([]string{"-c", c.script, c.name}, c.args...)...)
			cmd.Env = append(os.Environ(), "PATH="+bin)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			var said []string
			for lines.Scan() {
				if said = append(said, lines.Text()); len(said) == 4 {
					if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			for i, line := range said[:4] {
				want := []string{others, last}[i%2] + c.copied
				if line != want {
					t.Errorf("copy %d: %q, want %q", i, line, want)
				}
			}
			end := strings.Join(said[len(said)-2:], "\n")
			if want := others + c.atTheEnd + "\n" + last + c.atTheEnd; c.atTheEnd != "" && end != want {
				t.Errorf("at the end:\n%s\nwant\n%s", end, want)
			}
			if c.atTheEnd == "" && strings.Contains(strings.Join(said, "\n"), gone) {
				t.Errorf("what is not there was stored:\n%s", said)
			}
		})
	}
}

// A shard that has nothing in the bucket begins; any other failure to read the bucket ends the
// pod.
func TestFetchScript(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]int{0: 0, 3: 0, 1: 1, 5: 5} {
		bin := t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, "rclone"), fmt.Appendf(nil, "#!/bin/sh\n[ \"$*\" = 'copy from to' ] || exit 99\nexit %d\n", code), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", fetchScript, "fetch", "from", "to")
		cmd.Env = append(os.Environ(), "PATH="+bin)
		_ = cmd.Run() // the code is looked at below
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("rclone ends with %d: %d, want %d", code, got, want)
		}
	}
}
