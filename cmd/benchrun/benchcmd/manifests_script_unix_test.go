//go:build unix

package benchcmd

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/informerbench/informerbench/internal/testscript"
)

// The sidecars' scripts, with programs in place of rclone and sleep: run.json is set aside first
// and goes last, if there was one, and what is there when the pod ends is stored once more.
func TestCopyScripts(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("/bin/sh")
	if err != nil {
		t.Skip(err)
	}
	bin, here, aside := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{"shards", "merged"} {
		if err := os.Mkdir(filepath.Join(aside, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"rclone": "#!/bin/sh\necho \"$@\"\n",
		"sleep": "#!/bin/sh\n"} {
		testscript.Write(t, filepath.Join(bin, name), text)
	}
	// copies are the arguments of what rclone does in one round.
	copies := func(from, to, aside string) []string {
		return []string{"copy --include run.json " + from + " " + aside,
			"copy --exclude .* --exclude run.json " + from + " " + to,
			"copy --include run.json " + aside + " " + to}
	}
	gone := filepath.Join(here, "gone")
	toShards, toMerged := copies("from", "shards", filepath.Join(aside, "shards")),
		copies(here, "merged", filepath.Join(aside, "merged"))
	noneSetAside := copies(here, "to", gone)[:2]
	for _, c := range []struct {
		name, does string
		args       []string
		round      []string // the copies of each round
		atTheEnd   []string // the last ones
	}{
		{"store", "store", []string{aside, here, "to"}, copies(here, "to", aside),
			copies(here, "to", aside)},
		{"store, no run.json yet", "store", []string{gone, here, "to"}, noneSetAside, noneSetAside},
		{"merge", "merge", []string{aside, "from", "shards", here, "merged"}, toShards, toMerged},
		{"merge that failed", "merge", []string{aside, "from", "shards", gone, "merged"}, toShards,
			nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), shell,
				append([]string{"-c", copyScript, c.does}, c.args...)...)
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
				if said = append(said, lines.Text()); len(said) == 2*len(c.round) {
					if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if got, want := said[:2*len(c.round)], slices.Repeat(c.round, 2); !slices.Equal(got, want) {
				t.Errorf("two rounds copy\n%q, want\n%q", got, want)
			}
			if got := said[len(said)-len(c.atTheEnd):]; !slices.Equal(got, c.atTheEnd) {
				t.Errorf("at the end:\n%q\nwant\n%q", got, c.atTheEnd)
			}
			if c.atTheEnd == nil && strings.Contains(strings.Join(said, "\n"), gone) {
				t.Errorf("what is not there was stored:\n%s", said)
			}
		})
	}
}

// A shard that has nothing in the bucket begins; any other failure to read the bucket ends the
// pod.
func TestCopyScriptFetches(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]int{0: 0, 3: 0, 1: 1, 5: 5} {
		bin := t.TempDir()
		testscript.Write(t, filepath.Join(bin, "rclone"),
			fmt.Sprintf("#!/bin/sh\n[ \"$*\" = 'copy from to' ] || exit 99\nexit %d\n", code))
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", copyScript, "fetch", "from", "to")
		cmd.Env = append(os.Environ(), "PATH="+bin)
		_ = cmd.Run() // the code is looked at below
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("rclone ends with %d: %d, want %d", code, got, want)
		}
	}
}
