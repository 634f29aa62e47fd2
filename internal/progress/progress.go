// Package progress shows how far work is: as a bar at a terminal, elsewhere as lines of a log. A log
// has the first two texts, since a time left that the first says is a guess, and one after each
// tenth.
package progress

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Line is the progress of one piece of work. One goroutine uses it.
type Line struct {
	out io.Writer
	bar *progressbar.ProgressBar // nil where out is no terminal
	// Of a log: its lines, and the tenth that the next is for.
	lines, next int
}

// New returns the progress of work that has not begun.
func New(out io.Writer) *Line {
	l := &Line{out: out}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		l.bar = progressbar.NewOptions(whole, progressbar.OptionSetWriter(out),
			progressbar.OptionSetWidth(30),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	}
	return l
}

// whole is the length of a bar. A bar that reaches it ends, and is not drawn again.
const whole = 1000

// Show shows which share of the work is done, from 0 to 1, and a text, which must have no control
// characters.
func (l *Line) Show(share float64, text string) {
	share = max(0, min(1, share))
	if l.bar != nil {
		l.bar.Describe(text)
		_ = l.bar.Set(min(whole-1, int(whole*share))) // it only refuses what is beyond its end
		return
	}
	if tenth := int(10 * share); tenth >= l.next || l.lines == 1 {
		l.lines, l.next = l.lines+1, tenth+1
		fmt.Fprintf(l.out, "%3.0f%% %s\n", 100*share, text)
	}
}

// Say prints a text above the bar, or as lines of the log.
func (l *Line) Say(text string) {
	if l.bar != nil {
		_ = l.bar.Clear() // Show draws it again
	}
	fmt.Fprintln(l.out, text)
}

// End removes the bar.
func (l *Line) End() {
	if l.bar != nil {
		_ = l.bar.Finish()
	}
}
