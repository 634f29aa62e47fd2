package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// HTMLFile is the report as one page that opens offline.
const HTMLFile = "report.html"

// style is the page's only style sheet: the page has no script or font and fetches nothing.
const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem } h2 { margin-top: 2.2rem; border-bottom: 1px solid var(--line) } h3 { margin-top: 1.8rem }
table { border-collapse: collapse; display: block; overflow-x: auto; font-variant-numeric: tabular-nums }
th, td { border: 1px solid var(--line); padding: .2rem .6rem; text-align: left; vertical-align: top; white-space: nowrap }
td:nth-child(n+4) { white-space: normal; min-width: 6rem }
th { background: var(--soft) } tr:nth-child(even) td { background: var(--soft) }
pre { background: var(--soft); padding: .8rem; overflow-x: auto; font-size: 13px }
blockquote { border-left: 4px solid #c60; margin-left: 0; padding-left: 1rem }
img { max-width: 100%; margin: .3rem }
summary { cursor: pointer; color: #06c }
`

// policy is the page's Content-Security-Policy. It allows the page's one style sheet, by
// its hash, and embedded pictures. A script that got into the page would not run.
func policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"
}

// WriteHTML turns the Markdown report into one page. pictures are the files that the
// Markdown refers to, by their path; they are embedded. Only this package's own HTML within
// the Markdown is kept; any other is shown as text.
func WriteHTML(out io.Writer, title string, markdown []byte, pictures map[string][]byte) error {
	for path, svg := range pictures {
		uri := ownPicture + base64.StdEncoding.EncodeToString(svg)
		markdown = bytes.ReplaceAll(markdown, []byte("]("+path+")"), []byte("]("+uri+")"))
	}
	var body bytes.Buffer
	md := goldmark.New(
		// Without GFM's automatic links, and without style attributes, which the policy
		// forbids.
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(ownHTML{}, 0))),
	)
	if err := md.Convert(markdown, &body); err != nil {
		return fmt.Errorf("rendering %s: %w", HTMLFile, err)
	}
	_, err := fmt.Fprintf(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\"%s\"><meta name=\"viewport\" content=\"width=device-width\"><title>%s</title><style>%s</style></head><body>\n%s</body></html>\n",
		html.EscapeString(policy()), html.EscapeString(VisibleLine(title)), style, body.String())
	return err
}

// ownHTML renders HTML within the Markdown: the few elements that this package writes
// unchanged, anything else as text.
type ownHTML struct{}

var (
	ownBlock  = regexp.MustCompile(`^(<details><summary>[^<>]*</summary>|</details>)\s*$`)
	ownInline = regexp.MustCompile(`^<br/>$`)
)

// RegisterFuncs implements goldmark's NodeRenderer.
func (ownHTML) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			block := n.(*ast.HTMLBlock)
			text := block.Lines().Value(source)
			if block.HasClosure() {
				text = append(bytes.Clone(text), block.ClosureLine.Value(source)...)
			}
			return ast.WalkContinue, allowed(w, ownBlock, text)
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindImage, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			return ast.WalkSkipChildren, picture(w, string(n.(*ast.Image).Destination), altText(n, source))
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			return ast.WalkSkipChildren, allowed(w, ownInline, n.(*ast.RawHTML).Segments.Value(source))
		}
		return ast.WalkContinue, nil
	})
}

// ownPicture begins the address of a picture that WriteHTML has embedded.
const ownPicture = "data:image/svg+xml;base64,"

// picture writes an embedded picture, and only the name of any other.
func picture(w io.Writer, address, alt string) error {
	text := html.EscapeString(alt)
	if strings.HasPrefix(address, ownPicture) {
		text = fmt.Sprintf(`<img src="%s" alt="%s">`, html.EscapeString(address), text)
	}
	_, err := io.WriteString(w, text)
	return err
}

func altText(n ast.Node, source []byte) string {
	var alt strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			alt.Write(t.Segment.Value(source))
		}
	}
	return html.UnescapeString(alt.String())
}

func allowed(w io.Writer, own *regexp.Regexp, text []byte) error {
	if !own.Match(text) {
		text = util.EscapeHTML(text)
	}
	_, err := w.Write(text)
	return err
}
