package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"

	"github.com/informerbench/informerbench/measure/record"
)

// MergedCPU merges the CPU profiles of the run in dir; nil if it took none. It leaves out
// profiles that cannot be read and returns their names.
func MergedCPU(dir string, r *record.Run) (merged *profile.Profile, unreadable []string, err error) {
	var all []*profile.Profile
	for _, f := range r.Forks {
		if len(f.Profiles) == 0 {
			continue
		}
		path := filepath.Join(dir, "profiles", f.Cell.FileName(), "cpu.pb.gz")
		p, err := readProfile(path)
		if err != nil {
			unreadable = append(unreadable, fmt.Sprintf("%s: %v", path, err))
			continue
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, unreadable, nil
	}
	merged, err = profile.Merge(all)
	return merged, unreadable, err
}

func readProfile(path string) (*profile.Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return profile.Parse(f)
}

// Top is pprof's symbolised list of the functions with the most time in p.
func Top(p *profile.Profile, functions int) (string, error) {
	var out bytes.Buffer
	err := driver.PProf(&driver.Options{
		Flagset: &fixedFlags{set: map[string]string{"top": "true", "nodecount": fmt.Sprint(functions), "output": "top"}, args: []string{"merged"}},
		Fetch:   fetched{p},
		Writer:  toBuffer{&out},
		UI:      silent{},
	})
	return strings.TrimSpace(out.String()), err
}

// fixedFlags passes flags to pprof's driver without a command line.
type fixedFlags struct {
	set  map[string]string
	args []string
}

func (f *fixedFlags) Bool(name string, def bool, _ string) *bool {
	v := def
	if s, ok := f.set[name]; ok {
		v = s == "true"
	}
	return &v
}

func (f *fixedFlags) Int(name string, def int, _ string) *int {
	v := def
	if s, ok := f.set[name]; ok {
		// The values are this file's own.
		_, _ = fmt.Sscan(s, &v)
	}
	return &v
}

func (f *fixedFlags) Float64(_ string, def float64, _ string) *float64 { return &def }

func (f *fixedFlags) String(name, def, _ string) *string {
	if s, ok := f.set[name]; ok {
		return &s
	}
	return &def
}

func (f *fixedFlags) StringList(string, string, string) *[]*string { return &[]*string{} }
func (f *fixedFlags) ExtraUsage() string                           { return "" }
func (f *fixedFlags) AddExtraUsage(string)                         {}
func (f *fixedFlags) Parse(func()) []string                        { return f.args }

type fetched struct{ p *profile.Profile }

func (f fetched) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return f.p, "", nil
}

type toBuffer struct{ b *bytes.Buffer }

func (t toBuffer) Open(string) (io.WriteCloser, error) { return nopCloser{t.b}, nil }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// silent keeps pprof from writing to the terminal.
type silent struct{}

func (silent) ReadLine(string) (string, error)     { return "", io.EOF }
func (silent) Print(...any)                        {}
func (silent) PrintErr(...any)                     {}
func (silent) IsTerminal() bool                    { return false }
func (silent) WantBrowser() bool                   { return false }
func (silent) SetAutoComplete(func(string) string) {}
