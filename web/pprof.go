package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
	"k8s.io/utils/lru"
)

// mostViews is how many opened profiles are kept. One holds memory only, no file and no
// goroutine, so an evicted one needs no closing.
const mostViews = 16

// views keeps the most recently opened profiles.
type views struct {
	cache *lru.Cache
}

func newViews() *views { return &views{lru.New(mostViews)} }

// view is pprof's web interface for one profile: its pages by their path, "/" for the graph.
type view map[string]http.Handler

// driving is held while pprof's driver runs, because it keeps its settings in package
// variables. The pages that it makes may be served at once.
var driving sync.Mutex

// open returns the view with that key, or makes it of what read returns. base may be nil.
func (v *views) open(key, title string, read func() (p, base *profile.Profile, err error)) (view, error) {
	if kept, ok := v.cache.Get(key); ok {
		return kept.(view), nil
	}
	driving.Lock()
	defer driving.Unlock()
	if kept, ok := v.cache.Get(key); ok { // opened while this request waited
		return kept.(view), nil
	}
	p, base, err := read()
	if err != nil {
		return nil, err
	}
	opened, err := drive(title, p, base)
	if err != nil {
		return nil, err
	}
	v.cache.Add(key, opened)
	return opened, nil
}

// drive makes pprof's web interface for a profile, or for its difference from base. It needs
// defused profiles.
func drive(title string, p, base *profile.Profile) (opened view, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("pprof cannot show this profile: %v", reason)
		}
	}()
	of := map[string]*profile.Profile{sourceName: p}
	flags := &fixedFlags{text: map[string]string{"http": "127.0.0.1:0", "symbolize": "none"}}
	if base != nil {
		of[baseName] = base
		flags.base = baseName
	}
	err = driver.PProf(&driver.Options{
		Flagset: flags, Fetch: fetched(of), UI: silent{}, Writer: noWriter{}, Obj: noBinaries{}, HTTPTransport: noTransport{},
		Sym:        titled(title),
		HTTPServer: func(args *driver.HTTPServerArgs) error { opened = view(args.Handlers); return nil },
	})
	if err != nil {
		return nil, fmt.Errorf("pprof cannot show this profile: %w", err)
	}
	return opened, nil
}

// The names by which pprof asks for the profiles.
const (
	sourceName = "profile"
	baseName   = "base"
)

// fixedFlags passes flags to pprof's driver without a command line.
type fixedFlags struct {
	text map[string]string
	base string // "" for none
}

// Bool implements driver.FlagSet, as the other methods do.
func (*fixedFlags) Bool(name string, def bool, _ string) *bool {
	v := def || name == "no_browser"
	return &v
}
func (*fixedFlags) Int(_ string, def int, _ string) *int             { return &def }
func (*fixedFlags) Float64(_ string, def float64, _ string) *float64 { return &def }
func (f *fixedFlags) String(name, def, _ string) *string {
	if v, ok := f.text[name]; ok {
		return &v
	}
	return &def
}
func (f *fixedFlags) StringList(name, _, _ string) *[]*string {
	out := []*string{}
	if name == "diff_base" && f.base != "" {
		out = append(out, &f.base)
	}
	return &out
}
func (*fixedFlags) ExtraUsage() string    { return "" }
func (*fixedFlags) AddExtraUsage(string)  {}
func (*fixedFlags) Parse(func()) []string { return []string{sourceName} }

// fetched are the profiles by name. pprof never reads one itself.
type fetched map[string]*profile.Profile

// Fetch implements driver.Fetcher.
func (f fetched) Fetch(name string, _, _ time.Duration) (*profile.Profile, string, error) {
	if p := f[name]; p != nil {
		return p, "", nil
	}
	return nil, "", fmt.Errorf("no profile %q", name)
}

// titled looks up no symbols. pprof shows the first mapping's file name as the title.
type titled string

// Symbolize implements driver.Symbolizer.
func (t titled) Symbolize(_ string, _ driver.MappingSources, p *profile.Profile) error {
	if len(p.Mapping) > 0 {
		p.Mapping[0].File = strings.NewReplacer("/", " ", `\`, " ", ":", " ").Replace(string(t))
	}
	return nil
}

var errRefused = errors.New("benchrun serve opens nothing but files of the runs")

// noWriter refuses to write files.
type noWriter struct{}

// Open implements driver.Writer.
func (noWriter) Open(string) (io.WriteCloser, error) { return nil, errRefused }

// noTransport refuses to make requests.
type noTransport struct{}

// RoundTrip implements http.RoundTripper.
func (noTransport) RoundTrip(*http.Request) (*http.Response, error) { return nil, errRefused }

// noBinaries refuses to open binaries and to run tools on them.
type noBinaries struct{}

// Open implements driver.ObjTool.
func (noBinaries) Open(string, uint64, uint64, uint64, string) (driver.ObjFile, error) {
	return nil, errRefused
}

// Disasm implements driver.ObjTool.
func (noBinaries) Disasm(string, uint64, uint64, bool) ([]driver.Inst, error) {
	return nil, errRefused
}

// silent keeps pprof from writing to the terminal and from starting a browser.
type silent struct{}

// ReadLine implements driver.UI, as the other methods do.
func (silent) ReadLine(string) (string, error)     { return "", io.EOF }
func (silent) Print(...any)                        {}
func (silent) PrintErr(...any)                     {}
func (silent) IsTerminal() bool                    { return false }
func (silent) WantBrowser() bool                   { return false }
func (silent) SetAutoComplete(func(string) string) {}
