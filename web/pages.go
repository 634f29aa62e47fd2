package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"

	"github.com/informerbench/informerbench/report"
)

var (
	//go:embed pages.gotmpl
	pagesText string
	//go:embed style.css script.js
	assets embed.FS

	pages = template.Must(template.New("pages").Funcs(template.FuncMap{
		"runPage": runPath,
		"pprof":   pprofPath, "diff": diffPath,
	}).Parse(pagesText))
)

// The paths. A name is one segment, whatever is in it.

func runPath(id string) string { return segments("runs", id) }

func pprofPath(run, cell, kind string) string {
	return segments("pprof", run, cell, kind) + firstView
}

// diffPath is the difference of a profile from base's.
func diffPath(run, cell, kind, baseRun, baseCell string) string {
	return segments("diff", run, cell, kind, baseRun, baseCell) + firstView
}

// firstView needs no Graphviz, unlike pprof's graph.
const firstView = "flamegraph"

func segments(names ...string) string {
	out := "/"
	for _, name := range names {
		out += url.PathEscape(name) + "/"
	}
	return out
}

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", s.listPage)
	mux.HandleFunc("/runs/{run}/{$}", s.runPage)
	mux.HandleFunc("/runs/{run}/report", s.reportPage)
	mux.HandleFunc("/runs/{run}/files/{name}", s.file)
	mux.HandleFunc("/compare", s.comparePage)
	mux.HandleFunc("/profiles", s.profilesPage)
	mux.HandleFunc("/difference", s.difference)
	mux.HandleFunc("/pprof/{run}/{cell}/{kind}/{view...}", s.pprofPage)
	mux.HandleFunc("/diff/{run}/{cell}/{kind}/{baserun}/{basecell}/{view...}", s.pprofPage)
	for name, kind := range map[string]string{"style.css": "text/css; charset=utf-8", "script.js": "text/javascript; charset=utf-8"} {
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Content-Type", kind)
			http.ServeFileFS(w, req, assets, name)
		})
	}
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		s.refuse(w, http.StatusNotFound, fmt.Errorf("no page %s: the list of runs leads to all pages", req.URL.Path))
	})
	return mux
}

// show renders a page, whole or not at all.
func (s *Server) show(w http.ResponseWriter, status int, name string, data any) {
	var text bytes.Buffer
	if err := pages.ExecuteTemplate(&text, name, data); err != nil {
		panic(fmt.Errorf("page %s: %w", name, err)) // recovered, with a stack
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // its error is that of a closed connection
}

// message is a page with a sentence, and what to do next.
type message struct {
	Title, Text string
	Next        string // an address; "" for none
	NextText    string
}

// refuse says on a page why there is no other.
func (s *Server) refuse(w http.ResponseWriter, status int, err error) {
	s.show(w, status, "message", message{Title: http.StatusText(status), Text: report.VisibleLine(err.Error())})
}
