package web

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/report"
)

// mostRuns is how many folders are shown. Those with the last names are, since a run's
// folder is named after its time.
const mostRuns = 1000

// summary is what the pages say of a run. Its strings have no control characters, except ID
// and cell.File, which are names of folders as they are.
type summary struct {
	ID   string // the run's folder, below the root, with slashes
	Name string // ID to show
	// Reason says why the run cannot be read; "" if it can. The rest is empty then.
	Reason string

	Preset, Revision, Machine string
	Started                   time.Time
	Took                      time.Duration // 0 while it is not complete
	Complete                  bool
	Forks                     int // of a cell; more where a budget was given
	Measured                  int // forks of all cells
	Answers                   []report.Brief
	Inconclusive, Judged      int
	Cells                     []cell
}

// cell is a cell with profiles.
type cell struct {
	ID, Impl, Workload, Component string
	File                          string   // the name of its folder below profiles
	Against                       string   // File of the reference's cell of the same workload; "" for that itself
	Kinds                         []string // of profiles that are there
}

// kinds are the profiles that a run takes, in the order in which they are shown.
var kinds = []string{"cpu", "allocs", "heap", "mutex", "block"}

// profileFile is where a run's folder has a profile.
func profileFile(run, cell, kind string) string {
	return path.Join(run, "profiles", cell, kind+".pb.gz")
}

// runs evaluates the runs below a folder, and keeps the summaries.
type runs struct {
	files files
	most  int // mostRuns
	mu    struct {
		sync.Mutex
		known map[string]*known
	}
}

// known is a summary and the state of the files that it was made of.
type known struct {
	mu    sync.Mutex // held while it is made, so that it is made once
	stamp string
	run   *summary
}

func newRuns(f files) *runs {
	out := &runs{files: f, most: mostRuns}
	out.mu.known = map[string]*known{}
	return out
}

// isID reports whether a name may be a run's: one folder or two, neither hidden.
func isID(id string) bool {
	parts := strings.Split(id, "/")
	return fs.ValidPath(id) && len(parts) <= 2 && !slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, ".") })
}

// ids names the folders that have a run.json, whatever is in it: those below the root, and
// those below a folder without, as a pair has them. more counts those beyond most.
func (r *runs) ids() (ids []string, more int, err error) {
	below := func(folder string) (names []string, err error) {
		entries, err := fs.ReadDir(r.files, folder)
		for _, e := range entries {
			if id := path.Join(folder, e.Name()); isID(id) && (e.IsDir() || e.Type()&fs.ModeSymlink != 0) {
				names = append(names, id)
			}
		}
		slices.Reverse(names)
		return names, err
	}
	top, err := below(".")
	if err != nil {
		return nil, 0, err
	}
	for _, id := range top {
		switch r.look(id) {
		case isRun:
			ids = append(ids, id)
		case isFolder:
			parts, err := below(id)
			if err != nil {
				continue // gone meanwhile
			}
			for _, part := range parts {
				if r.look(part) == isRun {
					ids = append(ids, part)
				}
			}
		}
	}
	if more = len(ids) - r.most; more > 0 {
		return ids[:r.most], more, nil
	}
	return ids, 0, nil
}

type look int

const (
	isNothing look = iota
	isFolder       // without a run
	isRun          // or something that cannot be read, which the list says
)

// look tells what a name in the folder stands for.
func (r *runs) look(id string) look {
	info, err := r.files.Stat(id)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.IsDir():
		return isNothing
	case err != nil:
		return isRun // such as a link that leads out of the folder
	}
	if _, err := r.files.root.Lstat(path.Join(id, record.RunFile)); errors.Is(err, fs.ErrNotExist) {
		return isFolder
	}
	return isRun
}

// list returns all runs, the last names first.
func (r *runs) list() (all []*summary, more int, err error) {
	ids, more, err := r.ids()
	if err != nil {
		return nil, 0, err
	}
	r.forget(ids)
	all = make([]*summary, len(ids))
	var wait sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(ids)) {
		wait.Go(func() {
			for i := range next {
				all[i] = r.summary(ids[i])
			}
		})
	}
	for i := range ids {
		next <- i
	}
	close(next)
	wait.Wait()
	return all, more, nil
}

// forget drops the summaries of folders that are gone.
func (r *runs) forget(present []string) {
	there := map[string]bool{}
	for _, id := range present {
		there[id] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.mu.known {
		if !there[id] {
			delete(r.mu.known, id)
		}
	}
}

// find returns the run in a folder; its error says that there is none, or why it cannot be
// read.
func (r *runs) find(id string) (*summary, error) {
	if !isID(id) || !r.files.isFile(path.Join(id, record.RunFile)) {
		return nil, fmt.Errorf("no run %q: the list of runs has the names", id)
	}
	s := r.summary(id)
	if s.Reason != "" {
		return nil, errors.New(s.Reason)
	}
	return s, nil
}

// summary evaluates the run in a folder, unless that was done since its files changed.
func (r *runs) summary(id string) *summary {
	r.mu.Lock()
	k := r.mu.known[id]
	if k == nil {
		k = &known{}
		r.mu.known[id] = k
	}
	r.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	stamp := r.stamp(path.Join(id, record.RunFile)) + r.stamp(path.Join(id, "forks")) + r.stamp(path.Join(id, "profiles"))
	if k.run == nil || k.stamp != stamp {
		k.run, k.stamp = r.evaluate(id), stamp
	}
	return k.run
}

// stamp changes when a file or folder is written.
func (r *runs) stamp(name string) string {
	info, err := r.files.Stat(name)
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d ", info.Size(), info.ModTime().UnixNano())
}

// read reads the whole record of a run.
func (r *runs) read(id string) (*record.Run, error) {
	folder, err := fs.Sub(r.files, id)
	if err != nil {
		return nil, err
	}
	return record.ReadRunFS(folder, id)
}

// measured reads a run with its profiles. Those that cannot be read are a warning of the run.
func (r *runs) measured(id string) (*report.Measured, error) {
	run, err := r.read(id)
	if err != nil {
		return nil, err
	}
	folder, err := fs.Sub(r.files, id)
	if err != nil {
		return nil, err
	}
	profiles, warnings := report.ReadProfiles(folder, run)
	run.Warnings = append(run.Warnings, warnings...)
	return &report.Measured{Run: run, Profiles: profiles, Dir: filepath.Join(r.files.root.Name(), filepath.FromSlash(id))}, nil
}

func (r *runs) evaluate(id string) (out *summary) {
	unreadable := func(reason string) *summary {
		return &summary{ID: id, Name: report.VisibleLine(id), Reason: report.VisibleLine(reason)}
	}
	defer func() {
		if reason := recover(); reason != nil { // a record that nothing else refuses
			out = unreadable(fmt.Sprintf("%s: the run cannot be evaluated: %v", id, reason))
		}
	}()
	run, err := r.read(id)
	if err != nil {
		return unreadable(err.Error())
	}
	e := run.Environment
	out = &summary{
		ID: id, Name: report.VisibleLine(id), Preset: report.VisibleLine(run.Preset), Revision: report.VisibleLine(e.Revision),
		Machine: report.VisibleLine(fmt.Sprintf("%s, %d cores, %s/%s, %s", cmp.Or(e.CPU, "unknown CPU"), e.Cores, e.OS, e.Arch, e.GoVersion)),
		Started: run.Started.UTC(), Complete: run.Complete, Forks: run.Settings.Forks, Measured: len(run.Forks),
		Answers: report.Briefs(run), Cells: r.cells(id, run),
	}
	if run.Complete {
		out.Took = run.Finished.Sub(run.Started)
	}
	for _, a := range out.Answers {
		out.Inconclusive, out.Judged = out.Inconclusive+a.Inconclusive, out.Judged+a.Judged
	}
	return out
}

// cells are the cells of a run that have profiles, in the order of the run.
func (r *runs) cells(id string, run *record.Run) (out []cell) {
	for _, c := range run.Cells {
		entry := cell{
			ID: c.ID(), Impl: report.VisibleLine(c.Label()), Component: report.VisibleLine(string(c.Component)), Workload: report.VisibleLine(workloadOf(c)),
			File: c.FileName(),
		}
		for _, kind := range kinds {
			if r.files.isFile(profileFile(id, entry.File, kind)) {
				entry.Kinds = append(entry.Kinds, kind)
			}
		}
		if len(entry.Kinds) == 0 {
			continue
		}
		group := slices.DeleteFunc(slices.Clone(run.Cells), func(o record.Cell) bool { return !o.SameExceptImpl(c) })
		if reference := run.ReferenceOf(group); reference.ID() != c.ID() {
			entry.Against = reference.FileName()
		}
		out = append(out, entry)
	}
	return out
}

// workloadOf names a cell's workload: "store-ops/objects=10000, GOMAXPROCS 2".
func workloadOf(c record.Cell) string {
	name := c.Workload
	for _, p := range c.Params {
		name += "/" + p.Key + "=" + p.Value
	}
	return fmt.Sprintf("%s, GOMAXPROCS %d", name, c.Procs)
}

// cell returns the cell with that folder of profiles, and whether it has the kind.
func (s *summary) cell(file, kind string) (cell, bool) {
	for _, c := range s.Cells {
		if c.File == file && slices.Contains(c.Kinds, kind) {
			return c, true
		}
	}
	return cell{}, false
}
