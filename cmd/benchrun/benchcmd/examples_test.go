package benchcmd

import (
	"context"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// commandEnd is where a shell ends a command: a comment, a pipe, a redirection or a second command.
var commandEnd = regexp.MustCompile(` +(#|\||>|&&).*`)

// word is a word of a shell, with its quotes.
var word = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)

// examples are the command lines of this program in the help of a command and of those below it.
func examples(c *cobra.Command) (lines [][]string) {
	text := strings.ReplaceAll(c.Example, "\\\n", " ")
	for line := range strings.SplitSeq(text, "\n") {
		args, ok := strings.CutPrefix(strings.TrimSpace(line), program+" ")
		if !ok {
			continue
		}
		var words []string
		for _, w := range word.FindAllString(commandEnd.ReplaceAllString(args, ""), -1) {
			words = append(words, strings.Trim(w, `'"`))
		}
		lines = append(lines, words)
	}
	for _, below := range c.Commands() {
		lines = append(lines, examples(below)...)
	}
	return lines
}

// Every example of a help text has flags and arguments that its command takes. Those of run and
// pair that need no file get as far as verifying; those of report that name a reference print one.
func TestExamplesAreRight(t *testing.T) {
	t.Parallel()
	all := examples(newRoot())
	if len(all) < 40 {
		t.Errorf("%d examples, want more", len(all))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tried := 0
	for _, args := range all {
		line := strings.Join(args, " ")
		c, rest, err := newRoot().Find(args)
		if err == nil {
			err = c.ParseFlags(rest)
		}
		if err == nil {
			err = c.ValidateArgs(c.Flags().Args())
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		needsFile := slices.ContainsFunc(args, func(a string) bool {
			return slices.Contains([]string{"--base", "--resume", "-f", "--trace"}, a)
		})
		if runtime.NumCPU() < 2 && slices.Contains(args, "procs=1,2") {
			continue // it is refused here
		}
		switch {
		case (args[0] == "run" || args[0] == "pair") && !needsFile:
			var errOut strings.Builder
			if code := execute(ended, append(args, "-o", t.TempDir()), strings.NewReader(""),
				&strings.Builder{}, &errOut); code != exitInterrupted {
				t.Errorf("%s: exit code %d, want that it is interrupted\n%s", line, code, errOut.String())
			}
			tried++
		case args[0] == "report" && slices.Contains(args, "--reference"):
			args[1] = filepath.Join(t.TempDir(), "run")
			if code, _, errOut := benchrun(t, "run", "--preset", "quick", "--impl",
				"store/clientgo,lockfree,clientgo-deltafifo,coalescing", "--forks", "1", "--duration", "1ms",
				"--profile=false", "--skip-verify", "-o", args[1]); code != 0 {
				t.Fatalf("exit code %d\n%s", code, errOut)
			}
			if code, _, errOut := benchrun(t, append(args, "--format", "json")...); code != 0 {
				t.Errorf("%s: exit code %d\n%s", line, code, errOut)
			}
			tried++
		}
	}
	if tried < 10 {
		t.Errorf("%d examples were tried, want more", tried)
	}
}
