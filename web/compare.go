package web

import (
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/report"
)

// chosen returns the two runs that the form of the list names.
func (s *Server) chosen(req *http.Request) (base, head *summary, err error) {
	q := req.URL.Query()
	switch b, h := q.Get("base"), q.Get("head"); {
	case b == "" || h == "":
		return nil, nil, errors.New("choose two runs in the list: one as base, one as head")
	case b == h:
		return nil, nil, errors.New("base and head are the same run: choose two")
	default:
		if base, err = s.runs.find(b); err == nil {
			head, err = s.runs.find(h)
		}
		return base, head, err
	}
}

// comparePage compares two runs, as benchrun compare does without gates.
func (s *Server) comparePage(w http.ResponseWriter, req *http.Request) {
	base, head, err := s.chosen(req)
	if err != nil {
		s.refuse(w, http.StatusBadRequest, err)
		return
	}
	c, err := s.compare(base, head, req.URL.Query().Get("force") != "")
	if err != nil {
		m := message{Title: "These runs are not compared", Text: report.VisibleLine(err.Error())}
		if _, err := s.compare(base, head, true); err == nil { // it helps
			m.Next, m.NextText = "/compare?"+url.Values{"base": {base.ID}, "head": {head.ID}, "force": {"1"}}.Encode(), "Compare them all the same"
		}
		s.show(w, http.StatusConflict, "message", m)
		return
	}
	if err := showGenerated(w, func(out io.Writer) error { return report.WriteVersusPage(out, c.Result, c.base, c.head) }); err != nil {
		s.refuse(w, http.StatusInternalServerError, err)
	}
}

// compared is a comparison of two runs.
type compared struct {
	*compare.Result
	base, head *report.Measured
}

func (s *Server) compare(base, head *summary, force bool) (c compared, err error) {
	if c.base, err = s.runs.measured(base.ID); err != nil {
		return c, err
	}
	if c.head, err = s.runs.measured(head.ID); err != nil {
		return c, err
	}
	if c.Result, err = compare.Runs(c.base.Run, c.head.Run, force); err != nil {
		return c, err
	}
	c.Base, c.Head = base.Name, head.Name // two runs may call themselves the same
	return c, c.Judge(nil)
}
