package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"io"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	gmhtml "github.com/yuin/goldmark/renderer/html"
)

// HTMLFile is the report as one page that opens offline.
const HTMLFile = "report.html"

// style is all that the page needs: no script, no font, nothing fetched.
const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem } h2 { margin-top: 2.2rem; border-bottom: 1px solid var(--line) } h3 { margin-top: 1.8rem }
table { border-collapse: collapse; display: block; overflow-x: auto; font-variant-numeric: tabular-nums }
th, td { border: 1px solid var(--line); padding: .2rem .6rem; text-align: left; vertical-align: top; white-space: nowrap }
td:nth-child(n+4):nth-last-child(n+3) { white-space: normal }
td:last-child:nth-child(n+7) { white-space: normal }
th { background: var(--soft) } tr:nth-child(even) td { background: var(--soft) }
pre { background: var(--soft); padding: .8rem; overflow-x: auto; font-size: 13px }
blockquote { border-left: 4px solid #c60; margin-left: 0; padding-left: 1rem }
img { max-width: 100%; margin: .3rem }
summary { cursor: pointer; color: #06c }
`

// WriteHTML turns the Markdown report into a page of its own. Pictures are the
// files that it refers to, by their path; they become part of the page.
func WriteHTML(out io.Writer, title string, markdown []byte, pictures map[string][]byte) error {
	for path, svg := range pictures {
		uri := "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg)
		markdown = bytes.ReplaceAll(markdown, []byte("]("+path+")"), []byte("]("+uri+")"))
	}
	var body bytes.Buffer
	// The Markdown is this package's own and holds <details> and pictures, so raw HTML and data URIs are let through.
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(gmhtml.WithUnsafe()))
	if err := md.Convert(markdown, &body); err != nil {
		return fmt.Errorf("rendering %s: %w", HTMLFile, err)
	}
	_, err := fmt.Fprintf(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>%s</title><style>%s</style></head><body>\n%s</body></html>\n",
		html.EscapeString(title), style, body.String())
	return err
}
