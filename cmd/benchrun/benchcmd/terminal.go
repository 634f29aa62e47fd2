package benchcmd

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/report"
)

// visibleWriter writes control characters as escapes. Names and texts of traces, runs and
// servers reach the terminal through it, and must not move its cursor or change its
// colours. In JSON the escapes are the same value.
type visibleWriter struct {
	out    io.Writer
	cut    []byte // the beginning of a character that the next write completes
	failed error  // the first error of out; printing functions do not return it
}

func (w *visibleWriter) Write(p []byte) (int, error) {
	text := slices.Concat(w.cut, p)
	whole := len(text)
	for i := max(0, len(text)-utf8.UTFMax+1); i < len(text); i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			whole = i
			break
		}
	}
	w.cut = append([]byte(nil), text[whole:]...)
	if err := w.write(text[:whole]); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *visibleWriter) write(text []byte) error {
	_, err := io.WriteString(w.out, report.Visible(string(text)))
	w.failed = cmp.Or(w.failed, err)
	return err
}

// end writes the rest of a text that ends within a character. Its error is the first one of
// all writes.
func (w *visibleWriter) end() error {
	_ = w.write(w.cut) // noted
	w.cut = nil
	return w.failed
}

// plainWriter writes past a visibleWriter what shows control characters by itself.
type plainWriter struct{ *visibleWriter }

func (w plainWriter) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	w.failed = cmp.Or(w.failed, err)
	return n, err
}

// shown is where a command writes texts of package report, which shows control characters
// of foreign names as escapes itself: its own colours pass. It says how wide that is.
func shown(cmd *cobra.Command, wide bool) (io.Writer, report.Terminal) {
	out, plain := cmd.OutOrStdout(), cmd.OutOrStdout()
	if w, ok := out.(*visibleWriter); ok {
		out, plain = plainWriter{w}, w.out
	}
	to := report.Terminal{Wide: wide}
	if isTerminal(plain) {
		to.Width, _, _ = term.GetSize(int(plain.(*os.File).Fd())) // 0 if it fails
		to.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	columns, _ := strconv.Atoi(os.Getenv("COLUMNS")) // 0 if there is none
	to.Width = cmp.Or(to.Width, max(0, columns))
	return out, to
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// forTerminal refuses a flag that only the text of a terminal heeds, beside another format.
func forTerminal(flag string, given bool, format string) error {
	if given && format != "text" {
		return fmt.Errorf("--%s is for the text of a terminal: leave it out, %s has everything", flag,
			format)
	}
	return nil
}

// addWide adds the flag for all columns.
func addWide(cmd *cobra.Command, wide *bool) {
	cmd.Flags().BoolVar(wide, "wide", false,
		"print every column of the tables, wider than a terminal of 120 columns")
}

// printRun prints what a run says, and where its files are behind the words of lead.
func printRun(cmd *cobra.Command, of runner.Result, wide bool, lead string) error {
	out, to := shown(cmd, wide)
	r, err := reportOf(of)
	if err == nil && len(of.Run.Forks) > 0 {
		err = r.WriteText(out, to)
	}
	beside := report.MarkdownFile + ", " + report.BenchTextFile
	if _, err := os.Stat(filepath.Join(of.Dir, "profiles")); err == nil {
		beside += ", profiles"
	}
	fmt.Fprintf(cmd.OutOrStdout(), "\n%s%s (%s beside it)\n", lead,
		filepath.Join(of.Dir, report.HTMLFile), beside)
	return err
}

// reportOf is the report that was written of a run, or its report if the run was whole before.
func reportOf(of runner.Result) (*report.Report, error) {
	if of.Report != nil {
		return of.Report, nil
	}
	return report.Of(of.Run)
}
