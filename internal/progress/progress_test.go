package progress

import (
	"strings"
	"testing"
)

// A log gets the first two texts and a line for each tenth, whatever the steps.
func TestALogHasALineForEachTenth(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	l := New(&out)
	for i := range 101 {
		l.Show(float64(i)/100, "measuring")
	}
	l.Show(2, "beyond its end")
	l.Say("done")
	l.End()
	if n := strings.Count(out.String(), "\n"); n != 13 || !strings.HasPrefix(out.String(),
		"  0% measuring\n  1% measuring\n 10% measuring\n") ||
		!strings.HasSuffix(out.String(), "100% measuring\ndone\n") {
		t.Errorf("%d lines, want 12 and one that was said:\n%s", n, out.String())
	}
}
