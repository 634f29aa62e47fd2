package web

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/informerbench/informerbench/report"
)

// difference leads from the fields of a form to the page of that difference.
func (s *Server) difference(w http.ResponseWriter, req *http.Request) {
	q := req.URL.Query()
	for _, field := range []string{"run", "cell", "kind", "baserun", "basecell"} {
		if q.Get(field) == "" {
			s.refuse(w, http.StatusBadRequest, fmt.Errorf("the field %s is empty: choose two cells and a kind on the page of a run", field))
			return
		}
	}
	http.Redirect(w, req, diffPath(q.Get("run"), q.Get("cell"), q.Get("kind"), q.Get("baserun"), q.Get("basecell")), http.StatusSeeOther)
}

// pair is a cell that two runs have, with the kinds of profile that both have of it.
type pair struct {
	Workload, Impl string
	Head, Base     cell
	Kinds          []string
}

// profilesPage lists the cells that two runs share, each with the differences of its
// profiles.
func (s *Server) profilesPage(w http.ResponseWriter, req *http.Request) {
	base, head, err := s.chosen(req)
	if err != nil {
		s.refuse(w, http.StatusBadRequest, err)
		return
	}
	p := struct {
		Base, Head *summary
		Pairs      []pair
	}{base, head, nil}
	for _, h := range head.Cells {
		for _, b := range base.Cells {
			if b.ID != h.ID {
				continue
			}
			both := slices.DeleteFunc(slices.Clone(h.Kinds), func(kind string) bool { return !slices.Contains(b.Kinds, kind) })
			if len(both) > 0 {
				p.Pairs = append(p.Pairs, pair{h.Component + " " + h.Workload, h.Impl, h, b, both})
			}
			break
		}
	}
	s.show(w, http.StatusOK, "profiles", p)
}

// shownViews are the pages of pprof that are served. Of the others, two read files and
// binaries that a profile names, and two write pprof's settings.
var shownViews = []string{"", "top", "peek", "flamegraph", "download"}

// pprofPage serves pprof's own pages for a profile, or for the difference of two.
func (s *Server) pprofPage(w http.ResponseWriter, req *http.Request) {
	name := req.PathValue("view")
	run, c, err := s.profileOf(req.PathValue("run"), req.PathValue("cell"), req.PathValue("kind"))
	if err != nil {
		s.refuse(w, http.StatusNotFound, err)
		return
	}
	kind := req.PathValue("kind")
	file := profileFile(run.ID, c.File, kind)
	baseFile, title := "", fmt.Sprintf("%s of %s, %s (%s)", kind, c.Impl, c.Workload, run.Name)
	if baseRun := req.PathValue("baserun"); baseRun != "" {
		b, bc, err := s.profileOf(baseRun, req.PathValue("basecell"), kind)
		if err != nil {
			s.refuse(w, http.StatusNotFound, err)
			return
		}
		baseFile = profileFile(b.ID, bc.File, kind)
		title = differenceTitle(kind, run, c, b, bc)
	}
	if !slices.Contains(shownViews, name) {
		s.refuse(w, http.StatusNotFound, notShown(name, file))
		return
	}
	if _, err := exec.LookPath("dot"); name == "" && err != nil {
		s.refuse(w, http.StatusNotImplemented, errors.New("pprof's graph needs Graphviz, and this machine has no program dot: install it (apt-get install graphviz), or look at the flame graph"))
		return
	}
	key := strings.Join([]string{file, s.runs.stamp(file), baseFile, s.runs.stamp(baseFile)}, "\x00")
	opened, err := s.views.open(key, title, func() (p, base *profile.Profile, err error) {
		if p, err = s.runs.files.profile(file); err == nil && baseFile != "" {
			base, err = s.runs.files.profile(baseFile)
		}
		return p, base, err
	})
	if err != nil {
		s.refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	page := opened["/"+name]
	if page == nil {
		s.refuse(w, http.StatusNotFound, notShown(name, file))
		return
	}
	w.Header().Set("Content-Security-Policy", pprofPolicy)
	page.ServeHTTP(w, req)
}

// differenceTitle names what differs first, because pprof cuts long titles.
func differenceTitle(kind string, run *summary, c cell, base *summary, bc cell) string {
	switch {
	case run.ID == base.ID && c.Workload == bc.Workload:
		return fmt.Sprintf("%s of %s minus %s, %s (%s)", kind, c.Impl, bc.Impl, c.Workload, run.Name)
	case c.Impl == bc.Impl && c.Workload == bc.Workload:
		return fmt.Sprintf("%s of %s in %s minus %s, %s", kind, c.Impl, run.Name, base.Name, c.Workload)
	}
	return fmt.Sprintf("%s of %s minus %s, %s minus %s (%s minus %s)", kind, c.Impl, bc.Impl, c.Workload, bc.Workload, run.Name, base.Name)
}

// notShown says how to see a page of pprof that is not served.
func notShown(view, file string) error {
	return fmt.Errorf("pprof's page %q is not served here, because it reads files that the profile names or writes your settings; "+
		"for a profile that you trust, in the folder of the runs: go tool pprof -http=: %s", view, file)
}

// profileOf finds a profile by the names in an address.
func (s *Server) profileOf(id, file, kind string) (*summary, cell, error) {
	run, err := s.runs.find(id)
	if err != nil {
		return nil, cell{}, err
	}
	c, ok := run.cell(file, kind)
	if !ok {
		return nil, cell{}, errors.New(report.VisibleLine(fmt.Sprintf("%s has no %s profile of %q: the page of the run has the names", id, kind, file)))
	}
	return run, c, nil
}
