package benchcmd

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/informerbench/informerbench/measure/metrics"
)

func TestListNamesEverything(t *testing.T) {
	code, out, _ := benchrun(t, "list")
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	for _, want := range []string{"clientgo", "mutexmap", "coalescing", "clientgo-realfifo",
		"btree", "controllerruntime-priority", "lock-starvation", "stores", "requeue-storm",
		"130767", "waives", "keeps: ", "for study: "} {
		if !strings.Contains(out, want) {
			t.Errorf("the list lacks %q", want)
		}
	}
}

func TestListMetrics(t *testing.T) {
	code, out, errOut := benchrun(t, "list", "--metrics")
	for _, m := range metrics.All() {
		if !strings.Contains(out, m.Name) {
			t.Errorf("%s is missing", m.Name)
		}
	}
	if code != 0 || strings.Contains(out, "mutexmap") {
		t.Errorf("exit %d: %s\n%s", code, errOut, out)
	}
}

// Every line of the lists fits a usual terminal, but for what cannot be broken.
func TestListsFitTheTerminal(t *testing.T) {
	for _, args := range [][]string{{"list"}, {"list", "--metrics"}} {
		_, out, _ := benchrun(t, args...)
		for line := range strings.SplitSeq(out, "\n") {
			if n := utf8.RuneCountInString(line); n > listWidth {
				t.Errorf("%q: a line has %d columns: %s", args, n, line)
			}
		}
	}
}
