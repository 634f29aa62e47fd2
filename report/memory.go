package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/informerbench/informerbench/measure/memory"
)

// Memory is the report of benchrun memory: of objects, or of a heap profile.
type Memory struct {
	Source  string           `json:"source"`
	Objects *memory.Report   `json:"objects,omitempty"`
	Code    []memory.Snippet `json:"code,omitempty"`
	Heap    *memory.Heap     `json:"heap,omitempty"`
}

// MemoryFormats are the formats of Memory.Write.
var MemoryFormats = []string{"text", "markdown", "json", "html"}

// Write writes the report in a format; text has 80 columns.
func (m *Memory) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "\t")
		return e.Encode(m)
	case "html":
		return m.writePage(w)
	}
	var parts memoryParts
	m.describe(&parts)
	text := parts.text()
	if format == "markdown" {
		text = "# " + escape(VisibleLine(m.title())) + "\n" + parts.markdown()
	} else {
		text = wrapNames(VisibleLine(m.title()), defaultWidth) + "\n" + text
	}
	_, err := io.WriteString(w, text)
	return err
}

// memoryParts are what the text, the Markdown and the page have alike, in their order.
type memoryParts []memoryPart

// memoryPart is one of a heading, a sentence, a table and a piece of code.
type memoryPart struct {
	heading, sentence, code string
	rows                    [][]string // the header first; numbers, and last a name
	names                   []string   // what tables of a page say in place of the last column
}

func (p *memoryParts) head(text string) { *p = append(*p, memoryPart{heading: text}) }

func (p *memoryParts) say(format string, args ...any) {
	*p = append(*p, memoryPart{sentence: fmt.Sprintf(format, args...)})
}

func (p *memoryParts) table(rows [][]string, names []string) {
	*p = append(*p, memoryPart{rows: rows, names: names})
}

// text lays the parts out for a terminal. Foreign names are shown on one line, and cut where they
// do not fit.
func (p memoryParts) text() string {
	var out strings.Builder
	for _, part := range p {
		switch {
		case part.heading != "":
			fmt.Fprintf(&out, "\n%s\n", VisibleLine(part.heading))
		case part.sentence != "":
			for line := range strings.Lines(wrapNames(VisibleLine(part.sentence), defaultWidth-2)) {
				fmt.Fprintf(&out, "  %s\n", strings.TrimSpace(line))
			}
		case part.code != "":
			out.WriteString("\n" + Visible(part.code) + "\n\n")
		default:
			writeColumns(&out, part.rows)
		}
	}
	return out.String()
}

func writeColumns(out *strings.Builder, rows [][]string) {
	last := len(rows[0]) - 1
	widths := make([]int, last)
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		line := ""
		for i, width := range widths {
			line += fmt.Sprintf("  %*s", width, row[i])
		}
		line += "  " + VisibleLine(row[last])
		if utf8.RuneCountInString(line) > defaultWidth {
			line = string([]rune(line)[:defaultWidth-1]) + "…"
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// markdown has everything that comes from outside as entities.
func (p memoryParts) markdown() string {
	var out strings.Builder
	for _, part := range p {
		switch {
		case part.heading != "":
			fmt.Fprintf(&out, "\n### %s\n\n", escape(VisibleLine(part.heading)))
		case part.sentence != "":
			out.WriteString(item(escape(VisibleLine(part.sentence))) + "\n\n")
		case part.code != "":
			out.WriteString(codeBlock("", "go", Visible(part.code)) + "\n\n")
		default:
			for i, row := range part.rows {
				row = append([]string(nil), row...)
				if i > 0 && part.names != nil {
					row[len(row)-1] = part.names[i-1]
				}
				for j := range row {
					row[j] = escape(strings.TrimSpace(VisibleLine(row[j])))
				}
				out.WriteString("| " + strings.Join(row, " | ") + " |\n")
				if i == 0 {
					out.WriteString("|" + strings.Repeat("--:|", len(row)-1) + ":--|\n")
				}
			}
			out.WriteString("\n")
		}
	}
	return out.String()
}

// megabytes are in units of 1,000,000 bytes.
func megabytes(bytes int64) string {
	switch mb := float64(bytes) / 1e6; {
	case mb == 0:
		return "0"
	case mb < 0.095:
		return fmt.Sprintf("%.3f", mb)
	case mb < 0.95:
		return fmt.Sprintf("%.2f", mb)
	case mb < 99.5:
		return fmt.Sprintf("%.1f", mb)
	default:
		return fmt.Sprintf("%.0f", mb)
	}
}

func shareOf(part, of int64) string {
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(cmp.Or(max(of, 0), 1)))
}
