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
// counts the instructions of every function. Only if they are equal is a point in the
// path of a Get acceptable. The lines have the same numbers, so nothing else may differ.
//
// A point can change in which register a value is, and thereby a move or two between registers
// and the stack. And a NOP may mark an inlined call for stack traces. Neither counts.
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
			for _, instructions := range with {
				size += instructions
			}
			if points == 0 || size < 1_000 {
				t.Fatalf("%d points, %d functions, %d instructions: the test sees nothing", points, len(with), size)
			}
			if len(with) != len(without) {
				t.Errorf("%d functions with points, %d without", len(with), len(without))
			}
			const moves = 2
			for name, instructions := range with {
				if n := instructions - without[name]; n > moves || n < -moves {
					t.Errorf("%s has %d instructions, and %d without its points", name, instructions, without[name])
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
	header = regexp.MustCompile(`^(\S+) STEXT .*size=`)
	// instruction has the text of one in the listing, without its address.
	instruction = regexp.MustCompile(`^\t0x[0-9a-f]+ \d+ \([^)]*\)\t(.*)`)
	// unseen are notes for the runtime, and NOPs.
	unseen = regexp.MustCompile(`^(PCDATA|FUNCDATA|NOP|XCHGL\tAX, AX)`)
)

// compiled returns how many instructions the package's functions have.
func compiled(t *testing.T, pkg string, flags ...string) map[string]int {
	t.Helper()
	args := append([]string{"build", "-gcflags=-S"}, flags...)
	cmd := exec.Command("go", append(args, "./"+pkg)...)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	count, name := map[string]int{}, ""
	for line := range strings.Lines(string(out)) {
		if m := header.FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if m := instruction.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil && name != "" {
			if !unseen.MatchString(m[1]) {
				count[name]++
			}
		} else if !strings.HasPrefix(line, "\t") {
			name = ""
		}
	}
	return count
}
