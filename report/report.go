package report

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
)

// The files in a run's folder beside run.json.
const (
	MarkdownFile  = "report.md"
	HTMLFile      = "report.html" // one page that opens offline
	BenchTextFile = "bench.txt"
)

// Report is what a run says, computed once. Its writers show the same numbers for a terminal,
// as Markdown, as a page, for benchstat and for programs. Whoever wrote the record, its strings
// are shown as text.
type Report struct {
	// Run is the run against the chosen references, without control characters.
	Run *record.Run
	// Profiles are those of the run's cells, which the page draws; nil for none.
	Profiles *Profiles

	shown
	markdown shown // with the markup of Markdown and HTML escaped
	pictures map[string][]byte
}

// shown is what the writers show.
type shown struct {
	Run      *record.Run
	Groups   []compare.Group
	Scalings []Scaling
	Answers  []compare.Answer
}

// Of computes the report of a run. The numbers are to the run's references, or to those chosen,
// and a warning then says so. The error wraps compare.ErrNoReference and names what can be
// chosen. It takes about a second for a run of a thousand comparisons.
func Of(run *record.Run, chosen ...Reference) (*Report, error) {
	run, err := against(run, chosen...)
	if err != nil {
		return nil, err
	}
	out := &Report{Run: clean(run)}
	groups := compare.Within(out.Run)
	out.shown = shown{out.Run, groups, Scalings(out.Run), compare.Answers(out.Run, groups)}
	out.markdown = *forMarkdown(&shown{Run: out.Run, Groups: groups, Scalings: out.Scalings})
	out.pictures, err = pictures(out.Scalings)
	return out, err
}

// Write computes the report of the run in a folder from its run.json and its profiles, and makes
// report.md with its curves, report.html and bench.txt there. Each file is written whole or not
// at all. Errors are Of's and those of the files.
func Write(dir string, chosen ...Reference) (*Report, error) {
	run, err := record.ReadRun(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir) // follows no link that leaves the folder
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing is written through it
	profiles, warnings := ReadProfiles(root.FS(), run)
	run.Warnings = append(run.Warnings, warnings...)
	r, err := Of(run, chosen...)
	if err != nil {
		return nil, err
	}
	r.Profiles = profiles
	return r, r.write(dir)
}

func (r *Report) write(dir string) error {
	if len(r.pictures) > 0 {
		if err := os.MkdirAll(filepath.Join(dir, CurvesDir), 0o755); err != nil {
			return err
		}
	}
	var all []error
	for path, svg := range r.pictures { // before report.md, which refers to them
		all = append(all, record.WriteFile(filepath.Join(dir, filepath.FromSlash(path)), svg))
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{{MarkdownFile, r.WriteMarkdown}, {HTMLFile, r.WriteHTML}, {BenchTextFile, r.WriteBench}} {
		var b bytes.Buffer
		err := file.write(&b)
		if err == nil {
			err = record.WriteFile(filepath.Join(dir, file.name), b.Bytes())
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}
