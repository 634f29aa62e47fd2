package benchcmd

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/informerbench/informerbench/measure/record"
)

// insideVariable marks the process that has a mount namespace of its own.
const insideVariable = "BENCHRUN_TEST_INSIDE"

// A run on a disk that becomes full says so, keeps its forks, and continues when there is
// room. The disks are tmpfs of some pages, in a namespace of their own.
func TestFullDisk(t *testing.T) {
	if os.Getenv(insideVariable) == "" {
		inNamespace(t)
		return
	}
	rng := seeded(t)
	whole := mount(t, 16<<20)
	if code, _, errOut := benchrun(t, tinyRun(t, filepath.Join(whole, "run"))...); code != 0 {
		t.Fatalf("a run with room: exit code %d\n%s", code, errOut)
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(whole, &st); err != nil {
		t.Fatal(err)
	}
	page := int64(st.Bsize)                                   //nolint:unconvert // it is int32 on 32-bit systems
	need := int64(st.Blocks-st.Bfree)*page + tinyForks*2*page // the forks' own files are gone by now
	const points = 3
	full := 0
	for i := range points {
		room := int64((float64(i) + rng.Float64()) / points * float64(need))
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			const filled = 256 << 10
			disk := mount(t, filled+room/page*page)
			filler := filepath.Join(disk, "filler")
			if err := os.WriteFile(filler, make([]byte, filled), 0o644); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(disk, "run")
			args := tinyRun(t, dir)
			code, _, errOut := benchrun(t, args...)
			if code != 0 {
				full++
				want := []string{"disk is full", "make room", "kept", "--resume " + dir}
				if _, err := os.Stat(filepath.Join(dir, record.RunFile)); err != nil {
					want = []string{"disk is full", "make room", "nothing was measured"}
				} else {
					read(t, dir)
				}
				for _, w := range want {
					if !strings.Contains(errOut, w) {
						t.Errorf("the error does not say %q:\n%s", w, errOut)
					}
				}
				if code != exitBroken {
					t.Errorf("exit code %d, want %d", code, exitBroken)
				}
			}
			kept := must(filepath.Glob(filepath.Join(dir, "forks", "*.json")))
			t.Logf("%d bytes of room: exit code %d, %d forks kept: %.300s", room, code, len(kept),
				errOut[strings.Index(errOut, "benchrun:")+1:])
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
			checkGoesOn(t, dir, len(kept), args)
		})
	}
	if full < points/2 {
		t.Errorf("%d of %d disks became full: this tests little", full, points)
	}
}

// inNamespace runs the calling test again in a namespace where it may mount.
func inNamespace(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), must(os.Executable()), "-test.run=^"+t.Name()+"$",
		"-test.v", fmt.Sprintf("-test.short=%v", testing.Short()))
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		t.Skipf("no namespace to mount a small disk in: %v", err)
	case err == nil && strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	default:
		t.Logf("%s", out)
	}
}

// mount mounts a disk of size bytes and returns its folder.
func mount(t *testing.T, size int64) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("mounting a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}
