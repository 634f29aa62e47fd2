package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/report"
)

// listed is the page of all runs.
type listed struct {
	Folder         string
	Rows           []row
	All, More      int
	Query, Order   string
	Presets        []string
	Preset         string
	Orders         []choice
	Base, Head     string // the runs chosen for a comparison
	Unreadable     int
	WithComparison bool // there are two runs to compare
}

type choice struct{ Value, Text string }

// row is a run on the page of all runs.
type row struct {
	*summary
	Text string // what the filter looks at, in lower case
	// Open is the share of inconclusive comparisons, 0 without any.
	Open float64
}

// orders are the orders of the list, the first by default.
var orders = []choice{{"newest", "newest first"}, {"oldest", "oldest first"}, {"name", "by name"}, {"preset", "by preset"}, {"open", "most inconclusive first"}}

var compareRows = map[string]func(a, b row) int{
	"newest": func(a, b row) int { return b.Started.Compare(a.Started) },
	"oldest": func(a, b row) int { return a.Started.Compare(b.Started) },
	"name":   func(a, b row) int { return cmp.Compare(a.Name, b.Name) },
	"preset": func(a, b row) int { return cmp.Compare(a.Preset, b.Preset) },
	"open":   func(a, b row) int { return cmp.Compare(b.Open, a.Open) },
}

func (s *Server) listPage(w http.ResponseWriter, req *http.Request) {
	all, more, err := s.runs.list()
	if err != nil {
		s.refuse(w, http.StatusInternalServerError, err)
		return
	}
	q := req.URL.Query()
	p := listed{
		Folder: report.VisibleLine(s.root.Name()), All: len(all), More: more, Orders: orders,
		Query: q.Get("q"), Preset: q.Get("preset"), Order: q.Get("order"), Base: q.Get("base"), Head: q.Get("head"),
	}
	if compareRows[p.Order] == nil {
		p.Order = orders[0].Value
	}
	readable := 0
	for _, run := range all {
		if run.Reason != "" {
			p.Unreadable++
		} else {
			readable++
		}
		if run.Preset != "" && !slices.Contains(p.Presets, run.Preset) {
			p.Presets = append(p.Presets, run.Preset)
		}
		r := rowOf(run)
		chosen := run.ID == p.Base || run.ID == p.Head // shown all the same, or the choice would be lost
		if chosen || strings.Contains(r.Text, strings.ToLower(strings.TrimSpace(p.Query))) && (p.Preset == "" || run.Preset == p.Preset) {
			p.Rows = append(p.Rows, r)
		}
	}
	slices.Sort(p.Presets)
	slices.SortStableFunc(p.Rows, func(a, b row) int { // unreadable runs last, whatever the order
		return cmp.Or(cmp.Compare(min(len(a.Reason), 1), min(len(b.Reason), 1)), compareRows[p.Order](a, b))
	})
	p.WithComparison = readable > 1
	s.show(w, http.StatusOK, "list", p)
}

func rowOf(run *summary) row {
	words := []string{run.Name, run.Preset, run.Revision, run.Machine, run.Reason}
	for _, a := range run.Answers {
		words = append(words, a.Component, a.Use, a.Reference)
	}
	r := row{summary: run, Text: strings.ToLower(strings.Join(words, " "))}
	if run.Judged > 0 {
		r.Open = float64(run.Inconclusive) / float64(run.Judged)
	}
	return r
}

// When is the time at which the run started.
func (s *summary) When() string { return s.Started.Format("2006-01-02 15:04") }

// State says how far the run is.
func (s *summary) State() string {
	if s.Complete {
		return "took " + s.Took.Round(1e9).String()
	}
	return "not complete: interrupted or in progress"
}

// ShortRevision is the beginning of the revision, and whether the tree differed from it.
func (s *summary) ShortRevision() string {
	revision, dirty, changed := strings.Cut(s.Revision, "+")
	short := revision[:min(len(revision), 12)]
	if changed && dirty != "" {
		short += "+dirty"
	}
	return strings.ToValidUTF8(short, "")
}

// Files are the files of the run's folder that the server hands out as text.
func (s *summary) Files() []string {
	return []string{record.RunFile, report.MarkdownFile, report.BenchTextFile}
}
