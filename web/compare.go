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
	result, err := s.compare(base, head, req.URL.Query().Get("force") != "")
	if err != nil {
		m := message{Title: "These runs are not compared", Text: report.VisibleLine(err.Error())}
		if _, err := s.compare(base, head, true); err == nil { // it helps
			m.Next, m.NextText = "/compare?"+url.Values{"base": {base.ID}, "head": {head.ID}, "force": {"1"}}.Encode(), "Compare them all the same"
		}
		s.show(w, http.StatusConflict, "message", m)
		return
	}
	if err := showGenerated(w, func(out io.Writer) error { return report.WriteVersusPage(out, result) }); err != nil {
		s.refuse(w, http.StatusInternalServerError, err)
	}
}

func (s *Server) compare(base, head *summary, force bool) (*compare.Result, error) {
	b, err := s.runs.read(base.ID)
	if err != nil {
		return nil, err
	}
	h, err := s.runs.read(head.ID)
	if err != nil {
		return nil, err
	}
	result, err := compare.Runs(b, h, force)
	if err != nil {
		return nil, err
	}
	result.Base, result.Head = base.Name, head.Name // two runs may call themselves the same
	return result, result.Judge(nil)
}
