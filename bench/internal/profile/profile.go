// Package profile makes an extra fork's profiles: the pprof files.
package profile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"

	"github.com/informerbench/informerbench/measure/record"
)

// Profiler writes the profiles of an extra fork. A nil profiler does nothing, so measured
// forks pay nothing for it.
type Profiler struct {
	dir     string
	cpu     *os.File
	started bool
}

// Contention is sampled: one in mutexFraction contended unlocks, and one blocking per
// blockRate ns blocked.
const (
	mutexFraction = 5
	blockRate     = 10_000
)

// New makes a profiler that writes into dir, which is made if need be. Without a dir it is
// nil.
func New(dir string) (*Profiler, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, "cpu.pb.gz"))
	if err != nil {
		return nil, err
	}
	return &Profiler{dir: dir, cpu: f}, nil
}

// Begin begins profiling, after the preparations. Only its first call counts.
func (p *Profiler) Begin() error {
	if p == nil || p.started {
		return nil
	}
	p.started = true
	runtime.SetMutexProfileFraction(mutexFraction)
	runtime.SetBlockProfileRate(blockRate)
	return pprof.StartCPUProfile(p.cpu)
}

// End writes the remaining profiles and lists all of them in f.
func (p *Profiler) End(f *record.Fork) error {
	if p == nil {
		return nil
	}
	pprof.StopCPUProfile()
	runtime.SetMutexProfileFraction(0)
	runtime.SetBlockProfileRate(0)
	errs := []error{p.cpu.Close()}
	f.Profiles = append(f.Profiles, p.cpu.Name())
	runtime.GC() // the heap profile shows the objects live at the last collection
	for _, name := range []string{"heap", "allocs", "mutex", "block"} {
		path := filepath.Join(p.dir, name+".pb.gz")
		out, err := os.Create(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := pprof.Lookup(name).WriteTo(out, 0); err != nil {
			errs = append(errs, fmt.Errorf("writing %s: %w", path, err))
		}
		errs = append(errs, out.Close())
		f.Profiles = append(f.Profiles, path)
	}
	return errors.Join(errs...)
}
