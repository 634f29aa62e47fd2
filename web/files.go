package web

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/google/pprof/profile"

	"github.com/informerbench/informerbench/report"
)

// mostFile is the most bytes that are read of one file. The greatest run of the presets has
// some 2 MB, and its profiles less than 0.1 MB each.
const mostFile = 64 << 20

// files are the files that may be read: regular ones of bounded size below a folder. The
// root refuses every name and link that leads out of it.
type files struct {
	root *os.Root
	most int64 // bytes of a file
}

// Open implements fs.FS. A pipe or device would block the reader, so it is refused.
func (f files) Open(name string) (fs.File, error) {
	info, err := f.Stat(name)
	if err != nil {
		return nil, err
	}
	switch {
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	case info.Size() > f.most && !info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%d bytes, more than the %d that are read", info.Size(), f.most)}
	}
	return f.root.Open(name)
}

// Stat implements fs.StatFS.
func (f files) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	return f.root.Stat(name)
}

// isFile reports whether a file is there that Open would open.
func (f files) isFile(name string) bool {
	info, err := f.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Size() <= f.most
}

// profile reads a profile and defuses it.
func (f files) profile(name string) (*profile.Profile, error) {
	p, err := report.ReadProfile(f, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defuse(p)
	return p, nil
}

// defuse removes from a profile whatever pprof would look up outside it. pprof searches the
// disk for the binaries of the mappings by file name and build ID, and panics at a build ID
// of one letter. The profiles of benchrun have their functions' names in them.
func defuse(p *profile.Profile) {
	for _, m := range p.Mapping {
		m.File, m.BuildID, m.KernelRelocationSymbol = "", "", ""
	}
	p.DocURL = "" // it would be a link to anywhere
}
