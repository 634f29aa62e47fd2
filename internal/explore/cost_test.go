//go:build !explore

package explore_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// marked are the packages with points.
var marked = []string{"impl/lockfree", "queue/deltafifo", "queue/workqueue"}

var point = regexp.MustCompile(`explore\.Point\("[^"]*"\)`)

// moved are functions in which a point changes in which register a value is, and thereby a
// move or two between registers and the stack. None is in the path of a Get, a list of objects
// or an Update that keeps the index values.
var moved = []string{
	"lockfree.(*Store).Index", "lockfree.(*Store).IndexKeys", "lockfree.(*Store).AddIndexers",
	"lockfree.(*core).reindexMany", "lockfree.(*standIn).prune", "deltafifo.(*engine).produce",
}

// TestPointsCostNothing compiles the marked packages with and without their points and
// compares the instructions of every function. Only if they are equal is a point in the
// path of a Get acceptable. The lines have the same numbers, so nothing else may differ but a
// NOP, which marks an inlined call for stack traces where no other instruction does.
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
				size += len(instructions)
			}
			if points == 0 || size < 1_000 {
				t.Fatalf("%d points, %d functions, %d instructions: the test sees nothing", points, len(with),
					size)
			}
			if len(with) != len(without) {
				t.Errorf("%d functions with points, %d without", len(with), len(without))
			}
			for name, instructions := range with {
				bare := without[name]
				if slices.Contains(moved, path.Base(name)) {
					const moves = 2
					if n := len(instructions) - len(bare); n > moves || n < -moves {
						t.Errorf("%s has %d instructions, and %d without its points", name, len(instructions),
							len(bare))
					}
				} else if !slices.Equal(instructions, bare) {
					t.Errorf("%s has other instructions without its points", name)
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
	// counted are the address to which a jump goes, and the number of a variable that the compiler
	// made.
	counted = regexp.MustCompile(`^(J[A-Z]+\t)\d+$|(\.autotmp_)\d+`)
)

// compiled returns the instructions of the package's functions.
func compiled(t *testing.T, pkg string, flags ...string) map[string][]string {
	t.Helper()
	args := append([]string{"build", "-gcflags=-S"}, flags...)
	cmd := exec.Command("go", append(args, "./"+pkg)...)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	found, name := map[string][]string{}, ""
	for line := range strings.Lines(string(out)) {
		if m := header.FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if m := instruction.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil &&
			name != "" {
			if !unseen.MatchString(m[1]) {
				found[name] = append(found[name], counted.ReplaceAllString(m[1], "$1$2"))
			}
		} else if !strings.HasPrefix(line, "\t") {
			name = ""
		}
	}
	return found
}
