package advise

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/informerbench/informerbench/report"
)

// Given is an advice with the load that it is for.
type Given struct {
	Load   Load     `json:"load"`
	Advice []Advice `json:"advice"`
}

// WriteJSON writes the load and the advice as JSON, with every reason.
func WriteJSON(w io.Writer, g Given) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(g)
}

// The layout of texts: the column in which sentences begin, and what a brief advice has.
const (
	usualWidth  = 80
	labelWidth  = 11
	briefReason = 1
)

// WriteText writes the advice for a terminal: for each component what to use, the strongest
// reason, the price, where both come from, and the code. all writes every reason, with the
// command that measures it again. Commands and code are not cut; commands go on after a
// backslash.
func WriteText(out io.Writer, g Given, all bool, to report.Terminal) error {
	w := &textWriter{out: bufio.NewWriter(out), width: cmp.Or(to.Width, usualWidth), wide: to.Wide,
		colour: to.Colour}
	w.sentences("Load", []string{g.Load.String()})
	w.sentences("from", g.Load.From)
	var silent []string
	for _, a := range g.Advice {
		if a.Silent && len(a.Notes) == 0 {
			silent = append(silent, fmt.Sprintf("%s (add %s)", a.Component, strings.Join(a.Missing, ", ")))
			continue
		}
		w.advice(a, all)
	}
	if len(silent) > 0 {
		w.line("")
		w.sentences("Not asked", []string{"the load says nothing of " + strings.Join(silent, "; ") + "."})
	}
	return w.out.Flush()
}

type textWriter struct {
	out          *bufio.Writer
	width        int
	wide, colour bool
}

func (w *textWriter) advice(a Advice, all bool) {
	w.line("")
	if a.Decision == Measure {
		w.line(string(a.Component) + ": " + w.painted(text.FgYellow, "measure this"))
		w.sentences("unknown", a.Unknown)
	} else {
		w.line(string(a.Component) + ": use " + w.painted(text.FgGreen, a.Use))
	}
	reasons := a.Because
	if !all && len(reasons) > briefReason {
		reasons = reasons[:briefReason]
	}
	w.sentences("because", says(reasons))
	w.sentences("price", says(a.Price))
	w.sentences("memory", says(one(a.Memory)))
	w.sentences("unless", says(one(a.Unless)))
	w.sentences("see", origins(slices.Concat(reasons, a.Price, one(a.Memory), one(a.Unless))))
	if all {
		w.commands("repeat", measures(a))
	}
	w.sentences("note", a.Notes)
	w.commands("run", a.Commands)
	w.code(a.Code)
}

func (w *textWriter) painted(c text.Color, s string) string {
	if !w.colour {
		return s
	}
	return c.EscapeSeq() + s + text.Reset.EscapeSeq()
}

// line writes one line. Foreign text is made visible before it comes here.
func (w *textWriter) line(s string) {
	_, _ = w.out.WriteString(s + "\n") // Flush gives the error
}

// sentences writes texts beside a label, each on a line of its own.
func (w *textWriter) sentences(label string, texts []string) {
	for _, t := range texts {
		t = report.VisibleLine(t)
		if !w.wide {
			t = text.WrapSoft(t, max(20, w.width-labelWidth))
		}
		for l := range strings.SplitSeq(t, "\n") {
			w.line(strings.TrimRight(fmt.Sprintf("%-*s%s", labelWidth, indented(label), l), " "))
			label = ""
		}
	}
}

func indented(label string) string {
	if label == "" || label == "Load" || label == "Not asked" {
		return label
	}
	return "  " + label
}

// commands writes command lines that a shell takes as they stand.
func (w *textWriter) commands(label string, commands []string) {
	for _, c := range commands {
		for _, l := range broken(report.VisibleLine(c), w.width-labelWidth, w.wide) {
			w.line(fmt.Sprintf("%-*s%s", labelWidth, indented(label), l))
			label = ""
		}
	}
}

// broken breaks a command before its flags, with a backslash at the end of a line. A flag stays
// with its value.
func broken(command string, width int, wide bool) []string {
	if wide {
		return []string{command}
	}
	var lines []string
	line := ""
	for _, part := range parts(command) {
		switch {
		case line == "":
			line = part
		case utf8.RuneCountInString(line+part)+len(` \ `) > width:
			lines = append(lines, line+` \`)
			line = "  " + part
		default:
			line += " " + part
		}
	}
	return append(lines, line)
}

// parts splits a command before each flag and each redirection.
func parts(command string) (out []string) {
	for word := range strings.SplitSeq(command, " ") {
		if len(out) == 0 || strings.HasPrefix(word, "-") || word == ">" {
			out = append(out, word)
		} else {
			out[len(out)-1] += " " + word
		}
	}
	return out
}

// code writes the lines for each kind of program below a comment that names it. Code is not
// broken, so that it can be copied.
func (w *textWriter) code(lines []Code) {
	label := indented("code")
	put := func(l string) {
		w.line(strings.TrimRight(fmt.Sprintf("%-*s%s", labelWidth, label, l), " "))
		label = ""
	}
	for _, c := range lines {
		comment := "// " + string(c.Program)
		if c.Note != "" {
			comment += ": " + c.Note
		}
		if !w.wide {
			comment = strings.ReplaceAll(text.WrapSoft(comment, max(20, w.width-labelWidth-len("// "))),
				"\n", "\n// ")
		}
		for l := range strings.SplitSeq(comment, "\n") {
			put(l)
		}
		if c.Code == "" {
			continue
		}
		for l := range strings.SplitSeq(strings.ReplaceAll(c.Code, "\t", "  "), "\n") {
			put(l)
		}
	}
}

func says(reasons []Reason) (out []string) {
	for _, r := range reasons {
		out = append(out, r.Says)
	}
	return out
}

// origins lists records and pages, each once: a page by itself only where none of its sections
// is named.
func origins(reasons []Reason) []string {
	var out []string
	sections := map[string][]string{}
	for _, r := range reasons {
		out = append(out, cmp.Or(r.Record, r.Source), r.Page)
		if r.Section != "" {
			sections[r.Page] = unique(append(sections[r.Page], r.Section))
		}
	}
	out = unique(out)
	for i, page := range out {
		if of := sections[page]; page != "" && len(of) > 0 {
			out[i] = page + " (" + strings.Join(of, "; ") + ")"
		}
	}
	out = slices.DeleteFunc(out, func(s string) bool { return s == "" })
	if len(out) == 0 {
		return nil
	}
	return []string{strings.Join(out, "; ")}
}

// one is a list of a statement, or of none.
func one(r *Reason) []Reason {
	if r == nil {
		return nil
	}
	return []Reason{*r}
}

// measures lists the commands that measure what is said again, each once.
func measures(a Advice) (out []string) {
	for _, r := range slices.Concat(a.Because, a.Price, one(a.Memory), one(a.Unless)) {
		if r.Measure != "" {
			out = append(out, r.Measure)
		}
	}
	return unique(out)
}
