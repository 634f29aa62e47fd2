package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"io"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// fragment turns Markdown of this package into HTML. pictures are the files that the Markdown
// refers to, by their path; they are embedded. Only this package's own HTML within the Markdown
// is kept; any other is shown as text. Headings begin at the third level, since the page has
// the first two. Headings and pictures get ids, and links to themselves.
func fragment(markdown []byte, pictures map[string][]byte, ids place) (template.HTML, error) {
	for path, svg := range pictures {
		uri := ownPicture + base64.StdEncoding.EncodeToString(svg)
		markdown = bytes.ReplaceAll(markdown, []byte("]("+path+")"), []byte("]("+uri+")"))
	}
	var body bytes.Buffer
	md := goldmark.New(
		// Without GFM's automatic links, and without style attributes, which the policy
		// forbids.
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Strikethrough),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(ownHTML{ids}, 0))),
	)
	err := md.Convert(markdown, &body)
	return template.HTML(body.String()),
		err //nolint:gosec // goldmark escapes, and ownHTML lets only own elements through
}

// place gives ids to what stands in a part of the page.
type place struct {
	part string // the id of the part
	ids  anchors
}

func (p place) of(text string) string { return p.ids.of(p.part + " " + text) }

// permalink is the link to an id, as the template "link" writes it.
func permalink(id string) string {
	return fmt.Sprintf(` <a class="permalink" href="#%s" aria-label="link to this place">#</a>`, id)
}

// ownHTML renders HTML within the Markdown: the few elements that this package writes
// unchanged, anything else as text. It renders headings and pictures too.
type ownHTML struct{ place }

var (
	ownBlock  = regexp.MustCompile(`^(<details><summary>[^<>]*</summary>|</details>)\s*$`)
	ownInline = regexp.MustCompile(`^<br/>$`)
)

// RegisterFuncs implements goldmark's NodeRenderer.
func (o ownHTML) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHTMLBlock,
		func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
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
	r.Register(ast.KindImage, func(w util.BufWriter, source []byte, n ast.Node,
		entering bool) (ast.WalkStatus, error) {
		if entering {
			return ast.WalkSkipChildren, o.picture(w, string(n.(*ast.Image).Destination), altText(n, source))
		}
		return ast.WalkContinue, nil
	})
	ids := map[ast.Node]string{}
	r.Register(ast.KindHeading, func(w util.BufWriter, source []byte, n ast.Node,
		entering bool) (ast.WalkStatus, error) {
		level, text := n.(*ast.Heading).Level, ""
		if entering {
			ids[n] = o.of(altText(n, source))
			text = fmt.Sprintf(`<h%d id="%s">`, level, ids[n])
		} else {
			text = fmt.Sprintf("%s</h%d>\n", permalink(ids[n]), level)
		}
		_, err := w.WriteString(text)
		return ast.WalkContinue, err
	})
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node,
		entering bool) (ast.WalkStatus, error) {
		if entering {
			return ast.WalkSkipChildren, allowed(w, ownInline, n.(*ast.RawHTML).Segments.Value(source))
		}
		return ast.WalkContinue, nil
	})
}

// ownPicture begins the address of a picture that fragment has embedded.
const ownPicture = "data:image/svg+xml;base64,"

// picture writes an embedded picture, and only the name of any other.
func (o ownHTML) picture(w io.Writer, address, alt string) error {
	text := html.EscapeString(alt)
	if strings.HasPrefix(address, ownPicture) {
		id := o.of(alt)
		text = fmt.Sprintf(`<img id="%s" src="%s" alt="%s">%s`, id, html.EscapeString(address), text,
			permalink(id))
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
