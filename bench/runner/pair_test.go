package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/internal/testscript"
	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// The base's program names the commit that it was built from: it is not asked about the folder
// of this one.
func TestTheBaseIsAskedForItsOwnCommit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	exe := filepath.Join(t.TempDir(), "base")
	testscript.Write(t, exe, "#!/bin/sh\ncat > \"$0.in\"\necho '{}'\n")
	if _, err := recordOf(t.Context(), exe, Options{Out: t.TempDir(), WorkTree: "here"},
		io.Discard); err != nil {
		t.Fatal(err)
	}
	in, err := os.ReadFile(exe + ".in")
	if err != nil {
		t.Fatal(err)
	}
	var asked Options
	if err := json.Unmarshal(in, &asked); err != nil || asked.WorkTree != "" {
		t.Errorf("%v, asked about the folder %q", err, asked.WorkTree)
	}
}

// A base in which nothing keeps its contract is broken. One that lacks an implementation refuses
// it, and so does a program that does not know the command.
func TestTheBaseSaysWhetherItIsBroken(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	for _, c := range []struct {
		code   int
		broken bool
		want   string
	}{{1, true, "something broken"}, {ExitRefused, false, "what both builds have"},
		{3, false, "knows pairs"}} {
		exe := filepath.Join(t.TempDir(), "base")
		testscript.Write(t, exe, fmt.Sprintf("#!/bin/sh\nexit %d\n", c.code))
		if _, err := recordOf(t.Context(), exe, Options{Out: t.TempDir()}, io.Discard); err == nil ||
			errors.Is(err, ErrFailed) != c.broken || !strings.Contains(err.Error(), c.want) {
			t.Errorf("exit code %d: %v; want ErrFailed: %v, and %q", c.code, err, c.broken, c.want)
		}
	}
}

// An implementation that keeps its contract in one build only is something broken. One that a
// build does not have is a mistake in the flags.
func TestBuildsThatDoNotMeasureTheSame(t *testing.T) {
	t.Parallel()
	both := func() *record.Run {
		return recordtest.Run(
			recordtest.Spec{Forks: 2, Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 100},
				{Name: "mine", NsPerOp: 100}}})
	}
	without := both()
	without.Cells = slices.DeleteFunc(without.Cells, func(c record.Cell) bool {
		return c.Impl == "mine"
	})
	lacking := *without
	lacking.Impls = without.Impls[:1]
	without.Impls[1].Verified = record.VerifyFailed
	for _, c := range []struct {
		what       string
		base, head *record.Run
		broken     bool
		want       string
	}{
		{"the same", both(), both(), false, ""},
		{"it fails in head", both(), without, true, "store/mine does not keep the contract in head"},
		{"it fails in base", without, both(), true, "store/mine does not keep the contract in base"},
		{"it fails in both", without, without, false, ""},
		{"head does not have it", both(), &lacking, false, "do not measure the same"},
	} {
		err := sameMeasured(c.base, c.head)
		if errors.Is(err, ErrFailed) != c.broken || (err == nil) != (c.want == "") || err != nil &&
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q, ErrFailed: %v", c.what, err, c.want, c.broken)
		}
	}
}

// A gate that can match nothing of the plan is found before anything is verified or written.
func TestAPairRefusesAWrongGate(t *testing.T) {
	t.Parallel()
	gate, err := compare.ParseGate("store/*/lockfree/ns/op <= +5%")
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, Options{Preset: "quick", Impls: []string{"mutexmap"}})
	_, err = Pair(t.Context(), p, "", t.Output(), gate)
	if wrong := (*compare.GateError)(nil); !errors.As(err, &wrong) {
		t.Errorf("%v, want a wrong gate", err)
	}
	if _, err := os.Stat(p.options.Out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v, want that nothing was written", p.options.Out, err)
	}
}
