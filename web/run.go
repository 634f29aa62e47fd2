package web

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"time"

	"github.com/informerbench/informerbench/report"
)

// group are the cells of a workload, which differ in their implementation.
type group struct {
	Component, Workload string
	Cells               []cell
}

// runShown is the page of a run.
type runShown struct {
	*summary
	Groups []group
	Kinds  []string
	Texts  []string // files of the folder
}

// ImplOf names the implementation of the cell with that folder of profiles; "" without any.
func (s *summary) ImplOf(file string) string {
	for _, c := range s.Cells {
		if c.File == file {
			return c.Impl
		}
	}
	return ""
}

// Has reports whether the run has a profile.
func (s *summary) Has(file, kind string) bool {
	_, ok := s.cell(file, kind)
	return ok
}

func (s *Server) runPage(w http.ResponseWriter, req *http.Request) {
	run, err := s.runs.find(req.PathValue("run"))
	if err != nil {
		s.refuse(w, http.StatusNotFound, err)
		return
	}
	p := runShown{summary: run, Kinds: kinds}
	for _, name := range run.Files() {
		if s.runs.files.isFile(path.Join(run.ID, name)) {
			p.Texts = append(p.Texts, name)
		}
	}
	for _, c := range run.Cells {
		i := slices.IndexFunc(p.Groups, func(g group) bool { return g.Component == c.Component && g.Workload == c.Workload })
		if i < 0 {
			i = len(p.Groups)
			p.Groups = append(p.Groups, group{Component: c.Component, Workload: c.Workload})
		}
		p.Groups[i].Cells = append(p.Groups[i].Cells, c)
	}
	s.show(w, http.StatusOK, "run", p)
}

// reportPage serves the folder's report.html, or renders it where there is none.
func (s *Server) reportPage(w http.ResponseWriter, req *http.Request) {
	run, err := s.runs.find(req.PathValue("run"))
	if err != nil {
		s.refuse(w, http.StatusNotFound, err)
		return
	}
	name := path.Join(run.ID, report.HTMLFile)
	if s.runs.files.isFile(name) {
		w.Header().Set("Content-Security-Policy", reportPolicy)
		s.serveFile(w, req, name, "text/html; charset=utf-8")
		return
	}
	m, err := s.runs.measured(run.ID)
	if err != nil {
		s.refuse(w, http.StatusNotFound, err)
		return
	}
	err = showGenerated(w, func(out io.Writer) error {
		pictures, err := report.Curves(m.Run)
		if err != nil {
			return err
		}
		return report.WritePage(out, m.Run, m.Profiles, pictures)
	})
	if err != nil {
		s.refuse(w, http.StatusInternalServerError, err)
	}
}

// showGenerated sends a page of package report, whole or not at all.
func showGenerated(w http.ResponseWriter, write func(io.Writer) error) error {
	var page bytes.Buffer
	if err := write(&page); err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", reportPolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page.Bytes()) // its error is that of a closed connection
	return nil
}

// file serves a text file of a run's folder.
func (s *Server) file(w http.ResponseWriter, req *http.Request) {
	run, err := s.runs.find(req.PathValue("run"))
	if err != nil {
		s.refuse(w, http.StatusNotFound, err)
		return
	}
	name := req.PathValue("name")
	if !slices.Contains(run.Files(), name) || !s.runs.files.isFile(path.Join(run.ID, name)) {
		s.refuse(w, http.StatusNotFound, fmt.Errorf("no file %q of this run: the page of the run has the names", name))
		return
	}
	s.serveFile(w, req, path.Join(run.ID, name), "text/plain; charset=utf-8")
}

// serveFile serves a file below the root as that type.
func (s *Server) serveFile(w http.ResponseWriter, req *http.Request, name, contentType string) {
	f, err := s.runs.files.Open(name)
	if err != nil {
		w.Header().Set("Content-Security-Policy", ownPolicy)
		s.refuse(w, http.StatusNotFound, err)
		return
	}
	defer func() { _ = f.Close() }() // it was opened for reading only
	w.Header().Set("Content-Type", contentType)
	http.ServeContent(w, req, "", time.Time{}, f.(io.ReadSeeker))
}
