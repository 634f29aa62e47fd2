package record

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// lockVariable names, in the environment, the folder that a child process locks and
// works in until its standard input ends.
const lockVariable = "RECORD_TEST_LOCK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(lockVariable); dir != "" {
		_, err := LockDir(dir, []string{"benchrun", "run", "-o", dir})
		fmt.Println("locked", err)
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0) // without Unlock: as after a kill
	}
	os.Exit(m.Run())
}

// The process that works in a folder is named, and its lock ends with it.
func TestLockNamesItsHolderAndDiesWithIt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "results", "run")
	child := exec.Command(os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), lockVariable+"="+dir)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 100)
	if n, err := out.Read(said); err != nil || !strings.HasPrefix(string(said[:n]), "locked <nil>") {
		t.Fatalf("%v: %s", err, said[:n])
	}
	_, lockErr := LockDir(dir, []string{"second"})
	for what, err := range map[string]error{"LockDir": lockErr, "EmptyDir": EmptyDir(dir)} {
		var held *HeldError
		if !errors.As(err, &held) {
			t.Fatalf("%s: got %v, want who holds it", what, err)
		}
		for _, want := range []string{dir, fmt.Sprintf("process %d", child.Process.Pid),
			"benchrun run -o " + dir, "since 2", "UTC"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s does not say %q: %v", what, want, err)
			}
		}
	}
	if err := errors.Join(in.Close(), child.Wait()); err != nil {
		t.Fatal(err)
	}
	if err := EmptyDir(dir); err != nil {
		t.Errorf("after its end: %v", err)
	}
	l, err := LockDir(dir, []string{"third"})
	if err != nil {
		t.Fatalf("after its end: %v", err)
	}
	if err := l.Unlock(); err != nil {
		t.Error(err)
	}
}

// The files and folders that LockDir made are gone after Unlock, unless a folder is not
// empty.
func TestUnlockLeavesNothing(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, kept := range []bool{false, true} {
		dir := filepath.Join(root, "a", "b")
		l, err := LockDir(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if kept {
			if err := os.WriteFile(filepath.Join(dir, RunFile), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
		var found []string
		_ = filepath.WalkDir(root, func(path string, _ os.DirEntry, _ error) error {
			found = append(found, strings.TrimPrefix(path, root))
			return nil
		})
		if kept != (len(found) == 4) || !kept && len(found) != 1 {
			t.Errorf("kept %v: %q is there", kept, found)
		}
	}
}

// Unlock of a folder that was moved leaves the lock of the folder in its former place.
func TestUnlockLeavesTheLockOfAnother(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "run")
	first, err := LockDir(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, filepath.Join(root, "moved")); err != nil {
		t.Skipf("this system does not move a folder with an open file: %v", err)
	}
	second, err := LockDir(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Unlock(); err != nil {
		t.Error(err)
	}
	var held *HeldError
	if _, err := LockDir(dir, nil); !errors.As(err, &held) {
		t.Errorf("the folder is free after the lock of the one that was moved was given back: %v", err)
	}
	if err := second.Unlock(); err != nil {
		t.Error(err)
	}
}

// Of many processes that lock and unlock one folder at once, one holds the lock at a time,
// although each removes the file.
func TestOneHolderAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var mu sync.Mutex
	inside, taken := 0, 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				l, err := LockDir(dir, nil)
				var held *HeldError
				if errors.As(err, &held) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inside++
				taken++
				if inside != 1 {
					t.Errorf("%d hold the lock", inside)
				}
				mu.Unlock()
				mu.Lock()
				inside--
				mu.Unlock()
				if err := l.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if taken < 8 {
		t.Errorf("taken %d times", taken)
	}
}

// A folder that cannot take the lock is refused by name.
func TestLockDirRefuses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		if _, err := LockDir(dir, nil); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// A folder from elsewhere may have a link in place of the lock file. LockDir writes nothing
// through it.
func TestLockFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, lockFile)); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if _, err := LockDir(dir, nil); err == nil ||
		!strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
	if b, err := os.ReadFile(other); err != nil || string(b) != "kept" {
		t.Errorf("the link's target holds %q, %v", b, err)
	}
}

// A link in a folder of results, which may come from someone else, is refused by name, whether the
// folder is read or written.
func TestLinksAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := NoLinks(dir); err != nil {
		t.Fatal(err)
	}
	if err := NoLinks(filepath.Join(dir, "nowhere")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "profiles"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join("profiles", "cell")
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, link)); err != nil {
		t.Skipf("skipped: no links here: %v", err)
	}
	_, read := ReadRun(dir)
	_, written := LockDir(dir, nil)
	for _, err := range []error{read, written} {
		if err == nil || !strings.Contains(err.Error(), link+" is a link") {
			t.Errorf("%v, want that %s is a link", err, link)
		}
	}
}
