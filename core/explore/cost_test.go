//go:build !explore

package explore_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// marked are the packages with points.
var marked = []string{"impl/lockfree", "queue/deltafifo", "queue/workqueue"}

var point = regexp.MustCompile(`explore\.Point\("[^"]*"\)`)

// TestPointsCostNothing compiles the marked packages with and without their points and
// compares the machine code of every function. Only if they are equal is a point in the
// path of a Get acceptable. The lines have the same numbers, so nothing else may differ.
func TestPointsCostNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds packages twice")
	}
	for _, pkg := range marked {
		t.Run(pkg, func(t *testing.T) {
			dir := t.TempDir()
			overlay, points := withoutPoints(t, filepath.Join("..", pkg), dir)
			with, without := compiled(t, pkg), compiled(t, pkg, "-overlay="+overlay)
			size := 0
			for _, code := range with {
				size += len(code)
			}
			if points == 0 || size < 10_000 {
				t.Fatalf("%d points, %d functions, %d characters of code: the test sees nothing", points, len(with), size)
			}
			if len(with) != len(without) {
				t.Errorf("%d functions with points, %d without", len(with), len(without))
			}
			for name, code := range with {
				if code != without[name] {
					t.Errorf("%s is not the same machine code without its points", name)
				}
			}
			t.Logf("%d points in %d functions", points, len(with))
		})
	}
}

// withoutPoints copies the files of a package that have points and removes the points. It
// returns the file for go build's flag -overlay.
func withoutPoints(t *testing.T, pkg, dir string) (overlay string, points int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := len(point.FindAll(text, -1))
		if n == 0 || strings.HasSuffix(file, "_test.go") {
			continue
		}
		points += n
		copied, err := filepath.Abs(filepath.Join(dir, filepath.Base(file)))
		if err != nil {
			t.Fatal(err)
		}
		original, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		// A use of the package, since all others may be gone.
		bare := append(point.ReplaceAll(text, nil), "\nvar _ = explore.Point\n"...)
		if err := os.WriteFile(copied, bare, 0o600); err != nil {
			t.Fatal(err)
		}
		replace[original] = copied
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay, points
}

var (
	header = regexp.MustCompile(`^(\S+) STEXT .* size=`)
	bytes  = regexp.MustCompile(`^\s+0x[0-9a-f]+ ([0-9a-f ]{47})`)
)

// compiled returns the machine code of the package's functions as hexadecimal text.
func compiled(t *testing.T, pkg string, flags ...string) map[string]string {
	t.Helper()
	args := append([]string{"build", "-gcflags=-S"}, flags...)
	cmd := exec.Command("go", append(args, "./"+pkg)...)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	code, name := map[string]string{}, ""
	for line := range strings.Lines(string(out)) {
		if m := header.FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if m := bytes.FindStringSubmatch(line); m != nil && name != "" {
			code[name] += m[1]
		} else if !strings.HasPrefix(line, "\t") {
			name = ""
		}
	}
	return code
}
