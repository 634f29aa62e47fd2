package pages

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"go.yaml.in/yaml/v3"

	"github.com/informerbench/informerbench/compare"
)

var (
	// inline is a link to the report of a run whose title names a number.
	inline = regexp.MustCompile(`\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(([\w./-]*results/([\w-]+)/report\.md) "([^"]+)"\)`)
	// block is a table of numbers between its comments.
	block = regexp.MustCompile(`(?s)<!-- results\n(.*?)\n-->\n(.*?)<!-- end results -->`)
)

// Fill returns a page with its numbers as the runs have them. toRoot leads from the page's
// folder to the repository's root: "" or "../". The error names each number that no run has.
func Fill(page []byte, s *Source, toRoot string) ([]byte, error) {
	var errs []error
	page = block.ReplaceAllFunc(page, func(found []byte) []byte {
		spec := block.FindSubmatch(found)[1]
		table, err := s.table(spec, toRoot)
		if err != nil {
			errs = append(errs, err)
			return found
		}
		return fmt.Appendf(nil, "<!-- results\n%s\n-->\n%s\n<!-- end results -->", spec, table)
	})
	page = inline.ReplaceAllFunc(page, func(found []byte) []byte {
		m := inline.FindSubmatch(found)
		n, err := parseNumber(string(m[3]) + "/" + string(m[4]))
		if err == nil {
			var text string
			if text, err = s.text(n, bytes.Contains(m[1], []byte("["))); err == nil {
				return fmt.Appendf(nil, "[%s](%s \"%s\")", text, m[2], m[4])
			}
		}
		errs = append(errs, err)
		return found
	})
	return page, errors.Join(errs...)
}

// spec is what a table shows.
type spec struct {
	Head    string  `yaml:"head"` // the heading of the first column
	Columns ordered `yaml:"columns"`
	Rows    ordered `yaml:"rows"`
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
	// mostColumns keeps a page readable on a screen of half a laptop.
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
	if len(t.Rows) == 0 || len(t.Columns) == 0 || len(t.Columns) > mostColumns {
		return "", fmt.Errorf("a table: want rows, and 1 to %d columns:\n%s", mostColumns, text)
	}
	out := table.NewWriter()
	head := table.Row{t.Head}
	for _, c := range t.Columns {
		head = append(head, c.label)
	}
	out.AppendHeader(head)
	measured := make([]int, len(t.Columns))
	var presets []string
	var medians, ratios bool
	for _, r := range t.Rows {
		row, any := table.Row{r.label}, false
		for i, c := range t.Columns {
			n, err := parseNumber(strings.ReplaceAll(r.text, place, c.text))
			if err != nil {
				return "", fmt.Errorf("row %s: %w", r.label, err)
			}
			cell, err := s.text(n, true)
			switch {
			case errors.Is(err, compare.ErrNoNumber):
				cell = unmeasured
			case err != nil:
				return "", fmt.Errorf("row %s: %w", r.label, err)
			default:
				any = true
				measured[i]++
				presets = appendNew(presets, n.preset)
				medians, ratios = medians || n.to == "", ratios || n.to != ""
			}
			row = append(row, cell)
		}
		if !any {
			return "", fmt.Errorf("row %s: %s: %w for any column", r.label, r.text, compare.ErrNoNumber)
		}
		out.AppendRow(row)
	}
	for i, c := range t.Columns {
		if measured[i] == 0 {
			return "", fmt.Errorf("column %s: %w for any row", c.label, compare.ErrNoNumber)
		}
	}
	return out.RenderMarkdown() + "\n\n" + sourceLine(presets, medians, ratios, toRoot), nil
}

// sourceLine says where the numbers of a table come from.
func sourceLine(presets []string, medians, ratios bool, toRoot string) string {
	var links []string
	for _, p := range presets {
		links = append(links, fmt.Sprintf("[%s](%sresults/%s/report.md)", p, toRoot, p))
	}
	what := "Medians"
	switch {
	case medians && ratios:
		what = "Medians and ratios"
	case ratios:
		what = "Ratios"
	}
	return fmt.Sprintf("%s with their intervals, from %s.", what, strings.Join(links, ", "))
}

func appendNew(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}
