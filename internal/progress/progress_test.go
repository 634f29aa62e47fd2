package progress

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A log gets the first two texts and a line for each tenth, whatever the steps.
func TestALogHasALineForEachTenth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := New(&out)
		for i := range 101 {
			l.Show(float64(i)/100, "measuring")
			time.Sleep(time.Second)
		}
		l.Show(2, "beyond its end")
		l.Say("done")
		l.End()
		if n := strings.Count(out.String(), "\n"); n != 13 || !strings.HasPrefix(out.String(),
			"  0% measuring\n  1% measuring\n 10% measuring\n") ||
			!strings.HasSuffix(out.String(), "100% measuring\ndone\n") {
			t.Errorf("%d lines, want 12 and one that was said:\n%s", n, out.String())
		}
	})
}

// Quick work has one line.
func TestALogHasALineASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := New(&out)
		for i := range 101 {
			l.Show(float64(i)/100, "measuring")
		}
		if got := out.String(); got != "  0% measuring\n" {
			t.Errorf("got %q", got)
		}
	})
}
