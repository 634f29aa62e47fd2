package pages

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"go.yaml.in/yaml/v3"

	"github.com/informerbench/informerbench/compare"
)

var (
	// inline is a link to the report of a run, or to the output of benchmarks, whose title
	// names a number.
	inline = regexp.MustCompile(`\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(([\w./-]*results/(?:([\w-]+)/report\.md|(in-turns|instruments)/\w+\.txt|([\w-]+)/benchstat\.txt)) "([^"]+)"\)`)
	// block is a table of numbers between its comments.
	block = regexp.MustCompile(`(?s)<!-- results\n(.*?)\n-->\n(.*?)<!-- end results -->`)
)

// Fill returns a page with its numbers as the runs have them. toRoot leads from the page's
// folder to the repository's root: "" or "../". The error names each number that no run has.
func Fill(page []byte, s *Source, toRoot string) ([]byte, error) {
	var errs []error
	page = block.ReplaceAllFunc(page, func(found []byte) []byte {
		spec := block.FindSubmatch(found)[1]
		made, err := s.table(spec, toRoot)
		if err != nil {
			errs = append(errs, err)
			return found
		}
		return fmt.Appendf(nil, "<!-- results\n%s\n-->\n%s\n<!-- end results -->", spec, made)
	})
	page = inline.ReplaceAllFunc(page, func(found []byte) []byte {
		m := inline.FindSubmatch(found)
		name := string(m[3]) + string(m[4]) + "/" + string(m[6])
		if folder := string(m[5]); folder != "" {
			name = kit + "/" + folder + name
		}
		number, err := s.named(name)
		if err != nil {
			errs = append(errs, err)
			return found
		}
		return fmt.Appendf(nil, "[%s](%s \"%s\")", number.like(string(m[1])), m[2], m[6])
	})
	return page, errors.Join(errs...)
}

// spec is what a table shows.
type spec struct {
	Head    string  `yaml:"head"` // the heading of the first column
	Columns ordered `yaml:"columns"`
	Rows    ordered `yaml:"rows"`
	Asked   ordered `yaml:"asked"` // of the first column's numbers, by row (see bound)
}

// ordered is a mapping of texts in the order of the file.
type ordered []struct{ label, text string }

// UnmarshalYAML reads a mapping.
func (o *ordered) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: want a mapping of labels", node.Line)
	}
	for i := 0; i < len(node.Content); i += 2 {
		*o = append(*o, struct{ label, text string }{node.Content[i].Value, node.Content[i+1].Value})
	}
	return nil
}

const (
	place      = "{}" // in the name of a row, for a column's text
	unmeasured = "–"
	// mostColumns keeps a page readable on a screen of half a laptop. Bounds take two of them.
	mostColumns = 5
)

// table is the Markdown table of a block, with a line that names its runs.
func (s *Source) table(text []byte, toRoot string) (string, error) {
	var t spec
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&t); err != nil {
		return "", fmt.Errorf("a table: %w:\n%s", err, text)
	}
	most := mostColumns
	if len(t.Asked) > 0 {
		most -= 2
	}
	if len(t.Rows) == 0 || len(t.Columns) == 0 || len(t.Columns) > most {
		return "", fmt.Errorf("a table: want rows, and 1 to %d columns:\n%s", most, text)
	}
	bounds, err := t.bounds()
	if err != nil {
		return "", fmt.Errorf("a table: %w:\n%s", err, text)
	}
	out := table.NewWriter()
	head := table.Row{t.Head}
	for _, c := range t.Columns {
		head = append(head, c.label)
	}
	if bounds != nil {
		head = append(head, "asked", "met")
	}
	out.AppendHeader(head)
	var of sources
	measured := map[string]bool{} // the columns that have a number
	for _, r := range t.Rows {
		row, found := table.Row{r.label}, false
		var first figure // of the first column
		for i, c := range t.Columns {
			name := strings.ReplaceAll(r.text, place, c.text)
			n, err := s.named(name)
			cell := n.withInterval
			switch {
			case errors.Is(err, compare.ErrNoNumber):
				cell = unmeasured
			case err != nil:
				return "", fmt.Errorf("row %s: %w", r.label, err)
			default:
				found, measured[c.label] = true, true
				of.add(name)
			}
			row = append(row, cell)
			if i == 0 {
				first = n
			}
		}
		if !found {
			return "", fmt.Errorf("row %s: %s: %w for any column", r.label, r.text, compare.ErrNoNumber)
		}
		if bounds != nil {
			b := bounds[r.label]
			verdict, err := b.verdict(first)
			if err != nil {
				return "", fmt.Errorf("row %s: %w", r.label, err)
			}
			row = append(row, cmp.Or(b.text, unmeasured), verdict)
		}
		out.AppendRow(row)
	}
	for _, c := range t.Columns {
		if !measured[c.label] {
			return "", fmt.Errorf("column %s: %w for any row", c.label, compare.ErrNoNumber)
		}
	}
	return out.RenderMarkdown() + "\n\n" + of.line(toRoot), nil
}

// sources are what the numbers of a table come from.
type sources struct {
	names           []string // presets, inTurns, instruments, and folders of upstream/results
	medians, ratios bool
}

// add notes a number that is in the table.
func (of *sources) add(name string) {
	n, err := parseNumber(name)
	if err != nil {
		return // it would have no number
	}
	source := n.preset
	if source == kit {
		folder, _, _ := strings.Cut(n.name, "/")
		source += "/" + folder
	}
	if !slices.Contains(of.names, source) {
		of.names = append(of.names, source)
	}
	if n.to == "" {
		of.medians = true
	} else {
		of.ratios = true
	}
}

// line names the sources.
func (of *sources) line(toRoot string) string {
	links := make([]string, len(of.names))
	for i, source := range of.names {
		folder, ofKit := strings.CutPrefix(source, kit+"/")
		switch {
		case source == inTurns:
			links[i] = fmt.Sprintf("[benchmarks in turns](%sresults/%s)", toRoot, source)
		case source == instruments:
			links[i] = fmt.Sprintf("[benchmarks of the instruments](%sresults/%s)", toRoot, source)
		case ofKit:
			links[i] = fmt.Sprintf("[%s](%s%s/results/%s/benchstat.txt)", folder, toRoot, kit, folder)
		default:
			links[i] = fmt.Sprintf("[%s](%sresults/%s/report.md)", source, toRoot, source)
		}
	}
	what := "Medians"
	switch {
	case of.medians && of.ratios:
		what = "Medians and ratios"
	case of.ratios:
		what = "Ratios"
	}
	return fmt.Sprintf("%s with their intervals, from %s.", what, strings.Join(links, ", "))
}
