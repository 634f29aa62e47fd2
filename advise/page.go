package advise

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
)

// pageIntro is the beginning of the page.
const pageIntro = `# Which one should I use

This page is for somebody with a controller, an informer or a workqueue who wants to know what to put into it.
It is made from the rules of ` + "`benchrun advise`" + ` (` + "`advise/rules.yaml`" +
	`): do not edit it. ` + "`go generate ./internal/pages ./advise`" + ` writes it anew.

` + "```sh" + `
go run ./cmd/benchrun advise --objects 50000 --readers 10 --reads list --writes 2000 --memory 2GiB
go run ./cmd/benchrun advise --objects 50000 --readers 10 --reads by-index=2000 --writes 2000    # each look-up finds 2,000 objects
go run ./cmd/benchrun advise --workers 300 --delayed 50000 --priorities    # a queue; 50,000 items wait after AddAfter
go run ./cmd/benchrun advise results/quick    # or a run of your own: its verdicts come first, and the rules answer the rest
go run ./cmd/benchrun advise --trace pods.trace --readers 10 --reads list
` + "```" + `

**How to read it.** The first row of a table whose conditions hold decides. A rule holds within its ranges, their ends included. Most ends of a range were measured, but not every combination of them: no run has 160,000 objects and 80 listers at once, for example. Some lower ends of writes were not measured: they follow from how many single writes client-go's store did beside as many readers. Its informer writes in batches: beside listers only 10,000 events a second were measured, and with fewer it is probably late by less. Outside of the ranges the command says
"measure this", and prints the commands. Two numbers in brackets are an interval. The linked run has the intervals that are not printed here. ` + "`0.5x`" + ` is half of the number that it is compared with, and ` + "`1/38`" + ` a 38th.
All of it was measured on virtual machines with 2 cores; each run's report names the processor. A test checks each number against the run that it names. Run the commands in a clone of this repository. Those that begin with ` + "`benchrun`" + ` need ` + "`make build`" + `, which writes it into the clone, and ` + "`PATH=$PWD:$PATH`" + `. Or begin them with ` + "`go run ./cmd/benchrun`" + ` instead.

**What counts as a reader**: a goroutine that lists or looks up without pause. Workers that get single keys count if together they get some 50,000 a second, as those did that were measured. An endpoint that lists the cache counts as one lister if it is serving a request nearly all the time, and as none if it lists now and then. ` + "`List`" + ` of a lister or an indexer lists, and so does controller-runtime's ` + "`client.List`" + ` without a namespace and without an index. With one of these it looks up by an index, as ` + "`Pods(ns).List`" + ` of a lister and ` + "`ByIndex`" + ` do. (controller-runtime's client also copies each object, which no store makes cheaper.)

**How to put it in and how to go back**: [use it](use.md#how-to-put-it-in) has the lines for go.mod and the other ways in.

**Where a load is outside of the ranges**, describe it and measure it:

` + "```sh" + `
go run ./cmd/benchrun advise --objects 5000000 --readers 10 --reads list --writes 2000 --workload store > store.yaml
go run ./cmd/benchrun run -f store.yaml --impl clientgo,lockfree --budget 10m -o results/mine
go run ./cmd/benchrun advise results/mine
` + "```" + `

A queue, to whose workers the events of 5,000 changes a second are added:

` + "```sh" + `
go run ./cmd/benchrun advise --workers 200 --delayed 50000 --writes 5000 --workload queue > queue.yaml
go run ./cmd/benchrun run -f queue.yaml --impl clientgo,workqueue --budget 10m -o results/my-queue
go run ./cmd/benchrun advise results/my-queue
` + "```" + `
`

// titles of the page's sections.
var titles = map[contract.Component]string{
	contract.ComponentStore:    "The store",
	contract.ComponentFIFO:     "The FIFO",
	contract.ComponentDelay:    "The delay heap",
	contract.ComponentQueue:    "The workqueue",
	contract.ComponentInformer: "The informer",
}

// WritePage writes docs/which.md: the rules as tables, each with its evidence, and the code.
func (t *Table) WritePage(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprint(w, pageIntro)
	for _, c := range load.Components() {
		fmt.Fprintf(w, "\n## %s\n", titles[c])
		fmt.Fprint(w, "\n| load | where it holds | use |\n|---|---|---|\n")
		for _, r := range t.Of(c) {
			fmt.Fprintf(w, "| %s |\n", r.cells(""))
		}
		fmt.Fprintf(w, "| %s |\n", otherwise(c))
		for _, r := range t.Of(c) {
			t.writeRule(w, r)
		}
		t.writeLines(w, c)
	}
	return w.Flush()
}

// WriteSummary writes the rules as one table with the strongest reason of each, as Markdown. page
// is
// the way to the page that WritePage writes.
func (t *Table) WriteSummary(out io.Writer, page string) error {
	w := bufio.NewWriter(out)
	fmt.Fprint(w, "| component | load | where it holds | use | the strongest reason "+
		"|\n|---|---|---|---|---|\n")
	for _, c := range load.Components() {
		for _, r := range t.Of(c) {
			fmt.Fprintf(w, "| %s | %s | %s |\n", c, r.cells(page), r.Because[0].Text())
		}
		fmt.Fprintf(w, "| %s | %s | |\n", c, otherwise(c))
	}
	return w.Flush()
}

// cells are three cells of a rule: the load, where it holds, what to use. page is the way to the
// page of the rules, "" on that page.
func (r Rule) cells(page string) string {
	return fmt.Sprintf("[%s](%s#%s) | %s | `%s`", strings.TrimSuffix(r.What, "."), page, r.Name,
		r.When.text(), r.Use)
}

// otherwise are the same cells for a load that no rule of the component is about.
func otherwise(c contract.Component) string {
	return "anything else | | measure: " + strings.Join(ticked(compared(c)), ", ")
}

func ticked(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "`" + n + "`"
	}
	return out
}

// text is the condition in a cell: "10,000 to 160,000 objects, 10 to 80 goroutines read".
func (w Condition) text() string {
	var parts []string
	for _, d := range dimensions {
		limits, limited := w.Ranges[string(d.Dimension)]
		switch {
		case !limited:
		case limits == Range{0, 0} && d.Dimension == Readers:
			parts = append(parts, "no goroutine reads")
		case limits[0] == limits[1]:
			parts = append(parts, d.counted(limits[0]))
		default:
			parts = append(parts, fmt.Sprintf("%s %s", limits, d.many))
		}
	}
	return strings.Join(parts, ", ")
}

func (t *Table) writeRule(w io.Writer, r Rule) {
	fmt.Fprintf(w, "\n### %s\n%s Use `%s`.\n\n", r.Name, r.What, r.Use)
	for _, s := range t.statements(r) {
		writeEvidence(w, s.label, s.Evidence)
	}
	fmt.Fprintf(w, "\n```sh\n%s\n```\n", strings.Join(t.commandsOf(r), "\n"))
}

// commandsOf measures the rule's statements again.
func (t *Table) commandsOf(r Rule) []string {
	var out []string
	for _, s := range t.statements(r) {
		out = append(out, s.Measure)
	}
	return unique(out)
}

// writeEvidence writes a statement with a link to its page, relative to docs/.
func writeEvidence(w io.Writer, label string, e Evidence) {
	page := strings.TrimPrefix(e.Page, "docs/")
	title := page
	if e.Section != "" {
		title = e.Section
		page += "#" + anchor(e.Section)
	}
	origin := e.Source
	if e.Record != "" {
		origin = "`" + e.Record + "`"
	}
	fmt.Fprintf(w, "- **%s**: %s ([%s](%s), %s)\n", label, e.Text(), title, page, origin)
}

// anchor is GitHub's of a heading: lower case, letters and digits kept, spaces become dashes.
func anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ' || r == '-':
			b.WriteByte('-')
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_':
			b.WriteRune(r)
		}
	}
	return b.String()
}

// writeLines writes the code of each implementation that a rule of the component uses.
func (t *Table) writeLines(w io.Writer, c contract.Component) {
	var used []string
	for _, r := range t.Of(c) {
		used = append(used, r.Use)
	}
	for _, name := range unique(used) {
		entry, err := catalog.Lookup(c, name)
		if err != nil {
			continue // a test finds it
		}
		fmt.Fprintf(w, "\n### %s in a program\n%s.\n", name, sentence(entry.Description))
		for _, p := range Programs() {
			l := t.Lines[string(c)+"/"+name][p]
			if l.Code == "" {
				fmt.Fprintf(w, "\n%s: %s.\n", p, l.Note)
				continue
			}
			note := ""
			if l.Note != "" {
				note = " (" + l.Note + ")"
			}
			fmt.Fprintf(w, "\n%s%s:\n\n```go\n%s%s\n```\n", p, note, l.givenText(), l.Code)
		}
	}
}

// givenText lists the imports of a line of code as comments.
func (l Line) givenText() string {
	imports := slices.Clone(l.Imports)
	slices.Sort(imports)
	var b strings.Builder
	for _, i := range imports {
		fmt.Fprintf(&b, "// import %s\n", importSpec(i))
	}
	return b.String()
}

// importSpec returns an element of Line.Imports as a Go file imports it.
func importSpec(text string) string {
	if name, path, renamed := strings.Cut(text, " "); renamed {
		return fmt.Sprintf("%s %q", name, path)
	}
	return fmt.Sprintf("%q", text)
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
