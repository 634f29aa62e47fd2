package report

import (
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// TestBriefs: a list of runs says what the terminal's last lines say, without control
// characters.
func TestBriefs(t *testing.T) {
	t.Parallel()
	run := recordtest.Run(
		recordtest.Spec{Forks: 8, Duets: true,
			Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100}, {Name: "fast\x1b[31m", NsPerOp: 50}}})
	got := Briefs(run)
	if len(got) != 1 {
		t.Fatalf("%+v, want one component", got)
	}
	b := got[0]
	if b.Component != "store" || b.Reference != "clientgo" || b.Use != `fast\u001b[31m` ||
		len(b.Gains) == 0 || !strings.HasPrefix(b.Gains[0], "time 0.50x [") || b.Price != "" ||
		b.Judged == 0 || b.Inconclusive > b.Judged {
		t.Errorf("%+v, want that the time is half", b)
	}
	var text strings.Builder
	if err := WriteText(&text, run, Terminal{Width: 200}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), b.Gains[0]) {
		t.Errorf("the terminal does not say %q:\n%s", b.Gains[0], text.String())
	}
	run.Impls[1].Reference, run.Impls[0].Reference = true, false
	if b := Briefs(run)[0]; b.Use != b.Reference || len(b.Gains) != 0 {
		t.Errorf("%+v, want nothing proved better than the fast one", b)
	}
}
