package benchcmd

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// However a text is split into writes, its characters stay whole and have no effect.
func TestVisibleWriter(t *testing.T) {
	t.Parallel()
	const text, want = "±5% \x1b[31mµs\u202e\u009b€\n", "±5% \\u001b[31mµs\\u202e\\u009b€\n"
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		w := &visibleWriter{out: &out}
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.end(); err != nil || out.String() != want {
			t.Errorf("by %d bytes: %q, want %q (%v)", size, out.String(), want, err)
		}
	}
	var out bytes.Buffer
	w := &visibleWriter{out: &out}
	_, _ = w.Write([]byte("cut \xe2\x82"))
	if err := w.end(); err != nil || out.String() != `cut \xe2\x82` {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// failing is an output such as a file on a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A command that only prints says so where its output is lost, once, and does not end with 0.
func TestLostOutputIsAnError(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"list"}, {"list", "--metrics"}, {"--help"}, {"run", "--help"},
		{"version"}, {"advise", "--objects", "1000", "--readers", "10"}, {"completion", "bash"}} {
		var errOut bytes.Buffer
		code := execute(t.Context(), args, nil, failing{}, &errOut)
		if n := strings.Count(errOut.String(), io.ErrClosedPipe.Error()); code != exitBroken || n != 1 {
			t.Errorf("%v: exit code %d, and the error says %d times what was lost: %s", args, code, n,
				errOut.String())
		}
	}
}

// The names in a trace, a run or a folder do not move the cursor.
func TestTerminalGetsNoControlCharacters(t *testing.T) {
	const evil = "\x1b]0;title\x07\x1b[2J\u202e\u009b1m"
	var file bytes.Buffer
	w, err := load.NewTraceWriter(&file,
		load.TraceHeader{Source: "from " + evil, Namespace: evil, Dropped: []string{evil},
			Resources: []load.TraceResource{{Version: "v1", Resource: "pods" + evil, Kind: "Pod"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{w.Note(load.TraceNote{What: load.NoteRefused, Why: evil}),
		w.Close(0, "ended "+evil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	trace := write(t, "evil.trace", file.String())
	dir := filepath.Join(t.TempDir(), "run\x1b[31m")
	r := recordtest.Run(
		recordtest.Spec{Name: evil, Forks: 2,
			Impls: []recordtest.Impl{{Name: "a", NsPerOp: 1}, {Name: "b" + evil, NsPerOp: 2}}})
	r.Complete, r.Warnings = false, []string{evil}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := record.WriteRun(dir, r); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"trace", "info", trace}, {"trace", "cat", trace}, {"report", dir}, {"compare", dir, dir},
		{"compare", dir, dir, "--format", "json"}, {"compare", dir, dir, "--format", "markdown"},
		{"run", "--resume", dir}, {"report", dir + evil}, {"run", "--preset", evil}, {"run", "-f", evil},
		{evil}, {"--" + evil}, {"run", "--impl", evil}, {"trace", "info", evil},
		{"verify", "--clause", evil},
	} {
		_, out, errOut := benchrun(t, args...)
		for _, r := range out + errOut {
			if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf) {
				t.Errorf("%q: %U in\n%q", args, r, out+errOut)
				break
			}
		}
		if out+errOut == "" {
			t.Errorf("%q says nothing", args)
		}
	}
	if _, out, _ := benchrun(t, "trace", "info", trace); !strings.Contains(out, `\u001b[2J`) {
		t.Errorf("the escapes are not shown:\n%s", out)
	}
}
