package advise

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/informerbench/informerbench/report"
)

// WriteMarkdown writes the advice as Markdown, with every reason. Names of a foreign run or
// trace are text in it.
func WriteMarkdown(out io.Writer, g Given) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "# Which one should I use\n\nLoad: %s\n", report.MarkdownText(g.Load.String()))
	for _, from := range g.Load.From {
		fmt.Fprintf(w, "\n- from %s\n", report.MarkdownText(from))
	}
	for _, a := range g.Advice {
		if a.Decision == Measure {
			fmt.Fprintf(w, "\n## %s: measure this\n", a.Component)
			list(w, "", a.Unknown)
		} else {
			fmt.Fprintf(w, "\n## %s: use `%s`\n", a.Component, a.Use)
		}
		reasons(w, "because", a.Because)
		reasons(w, "price", a.Price)
		reasons(w, "memory", one(a.Memory))
		reasons(w, "unless", one(a.Unless))
		list(w, "note", a.Notes)
		if len(a.Commands) > 0 {
			fmt.Fprintf(w, "\n%s\n", report.MarkdownCode("sh", strings.Join(a.Commands, "\n")))
		}
		for _, c := range a.Code {
			writeCode(w, c)
		}
	}
	return w.Flush()
}

func list(w io.Writer, label string, texts []string) {
	if len(texts) > 0 {
		fmt.Fprintln(w)
	}
	for _, t := range texts {
		fmt.Fprintf(w, "- %s%s\n", labelled(label), report.MarkdownText(t))
	}
}

func labelled(label string) string {
	if label == "" {
		return ""
	}
	return "**" + label + "**: "
}

func reasons(w io.Writer, label string, of []Reason) {
	if len(of) > 0 {
		fmt.Fprintln(w)
	}
	for _, r := range of {
		says, from := r.Says, strings.Join(origins([]Reason{r}), "")
		if r.Page == "" { // of a run, which may be foreign
			says, from = report.MarkdownText(says), report.MarkdownText(from)
		}
		fmt.Fprintf(w, "- %s%s (%s)\n", labelled(label), says, from)
	}
}

func writeCode(w io.Writer, c Code) {
	note := report.MarkdownText(c.Note)
	if c.Code == "" {
		fmt.Fprintf(w, "\n%s: %s.\n", c.Program, cmp.Or(note, "nothing to change"))
		return
	}
	if note != "" {
		note = " (" + note + ")"
	}
	fmt.Fprintf(w, "\n%s%s:\n\n%s\n", c.Program, note, report.MarkdownCode("go", c.Code))
}
