package report

import (
	"fmt"
	"html/template"
	"io"

	"github.com/informerbench/informerbench/measure/memory"
)

// memoryPage is one page that opens offline: an icicle of kinds and fields, and the tables. It has
// no script.
var memoryPage = template.Must(template.New("memory.html").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{{.Policy}}"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{{.Title}}</title><style>{{.Style}}</style></head><body>
<header><h1>{{.Title}}</h1></header>
<main>
<section id="icicle" aria-labelledby="icicle-title"><h2 id="icicle-title">Where the bytes are</h2>
<p class="note">A box is a kind or a field, as wide as its bytes; below it is what it consists of. Point at a box for its numbers, which the tables have too.</p>
<svg class="icicle" viewBox="0 0 1200 {{.Height}}" role="img" aria-label="icicle of kinds and fields by bytes; the numbers stand below">
{{range .Boxes}}<svg x="{{.X}}" y="{{.Y}}" width="{{.Width}}" height="21"><title>{{.Title}}</title><rect class="{{.Class}}" width="100%" height="100%"/>{{if .Name}}<text x="4" y="15">{{.Name}}</text>{{end}}</svg>
{{end}}</svg></section>
<section class="part" id="numbers" aria-labelledby="numbers-title"><h2 id="numbers-title">The numbers</h2>
{{.Body}}</section>
</main></body></html>
`))

const memoryStyle = `
.icicle { width: 100% } .icicle text { font-size: 12px; fill: var(--ink) }
.icicle rect { stroke: var(--paper) } .icicle rect:hover { stroke: var(--ink) }
.icicle .i { fill: var(--impl) } .icicle .s { fill: var(--std) } .icicle .r { fill: var(--run) } .icicle .h { fill: var(--har) }
`

// iceBox is a box of an icicle, in units of its viewBox.
type iceBox struct {
	X, Width           string
	Y                  int
	Class, Name, Title string
}

const (
	iceWidth, iceRow = 1200, 22
	iceLeast         = 1.5 // narrower boxes are not drawn
	iceLetter        = 6.5 // about the width of one
)

// icicle draws fields from a place on, and returns how deep it went.
func icicle(boxes *[]iceBox, fields []memory.Field, total int64, x float64, depth int) int {
	deepest := depth
	for i := range fields {
		f := &fields[i]
		width := iceWidth * float64(f.Bytes) / float64(max(1, total))
		if width < iceLeast {
			continue
		}
		name := VisibleLine(f.Name)
		path := VisibleLine(f.Path)
		b := iceBox{X: fmt.Sprintf("%.1f", x), Width: fmt.Sprintf("%.1f", width), Y: depth * iceRow,
			Class: string("rish"[(depth+i)%4]), Name: name, Title: fmt.Sprintf("%s: %s MB, %s", path,
				megabytes(f.Bytes), shareOf(f.Bytes, total))}
		if float64(len(name))*iceLetter > width {
			b.Name = ""
			if n := int(width/iceLetter) - 1; n > 2 {
				b.Name = string([]rune(name)[:min(n, len([]rune(name)))]) + "…"
			}
		}
		*boxes = append(*boxes, b)
		deepest = max(deepest, icicle(boxes, f.Fields, total, x, depth+1))
		x += width
	}
	return deepest
}

// roots are what the icicle begins with.
func (m *Memory) roots() (fields []memory.Field, total int64) {
	if m.Heap != nil {
		fields = append(append(fields, m.Heap.Decoded...), m.Heap.Lost...)
		fields = append(fields, memory.Field{Name: "not of caches", Path: "not of caches",
			Bytes: m.Heap.OtherBytes, Fields: m.Heap.Other})
		return fields, m.Heap.Total
	}
	for i := range m.Objects.Kinds {
		k := &m.Objects.Kinds[i]
		f := k.Fields
		f.Name, f.Path = k.Name(), k.Name()
		fields, total = append(fields, f), total+f.Bytes
	}
	return fields, total
}

func (m *Memory) writePage(w io.Writer) error {
	var parts memoryParts
	m.describe(&parts)
	body, err := fragment([]byte(parts.markdown()), nil, place{"numbers",
		ownIDs("icicle", "icicle-title", "numbers", "numbers-title")})
	if err != nil {
		return err
	}
	var boxes []iceBox
	fields, total := m.roots()
	depth := icicle(&boxes, fields, total, 0, 0)
	css := pageStyle + flameStyle + memoryStyle
	return execute(w, memoryPage, struct {
		Policy, Title string
		Style         template.CSS
		Height        int
		Boxes         []iceBox
		Body          template.HTML
	}{
		fmt.Sprintf(
			"default-src 'none'; style-src '%s'; base-uri 'none'; form-action 'none'",
			hashOf(css),
		),
		VisibleLine(
			m.title(),
		), template.CSS(css), (depth + 1) * iceRow, boxes, body, //nolint:gosec // ours
	})
}
