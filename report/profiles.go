package report

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/informerbench/informerbench/measure/record"
)

// Profiles are the CPU and allocation profiles of a run's cells, as trees of calls.
type Profiles struct {
	byFork map[int]cellProfiles // by the fork's index in Run.Forks
}

// cellProfiles are nil where a profile is missing or has no sample.
type cellProfiles struct{ cpu, allocs *calls }

// profilesDir is the folder of the profiles within a run's.
const profilesDir = "profiles"

// A run's folder may come from anybody. These bounds are far above real profiles, which
// take some 200 KB unpacked, and keep a prepared one from taking all memory.
const (
	mostProfileBytes = 16 << 20 // unpacked
	mostFrames       = 1 << 20  // of all stacks together, inlined ones included
)

// profileSource says where the value that is drawn stands in a pprof file.
type profileSource struct{ file, value, count string }

var (
	cpuSource    = profileSource{"cpu.pb.gz", "cpu", "samples"}
	allocsSource = profileSource{"allocs.pb.gz", "alloc_space", "alloc_objects"}
)

// ReadProfiles reads the CPU and allocation profiles in files, the folder of run. It leaves
// out each file that cannot be read; warnings says how many, and why the first. Profiles
// belong to the run they were read for: give both to WritePage. It takes time and memory
// linear in the profiles.
func ReadProfiles(files fs.FS, run *record.Run) (profiles *Profiles, warnings []string) {
	profiles = &Profiles{byFork: map[int]cellProfiles{}}
	var unreadable []string
	read := func(c record.Cell, from profileSource) *calls {
		file := profilePath(c, from)
		p, err := ReadProfile(files, file)
		if err == nil {
			var folded *calls
			if folded, err = fold(p, from); err == nil {
				return folded
			}
		}
		unreadable = append(unreadable, fmt.Sprintf("%s: %v", file, err))
		return nil
	}
	seen := map[string]bool{}
	for i, f := range run.Forks {
		nothing := len(f.Unsupported) > 0 && len(f.Series) == 0 // was measured: its profiles are empty
		if len(f.Profiles) == 0 || nothing || seen[f.Cell.ID()] {
			continue
		}
		seen[f.Cell.ID()] = true
		profiles.byFork[i] = cellProfiles{read(f.Cell, cpuSource), read(f.Cell, allocsSource)}
	}
	if len(unreadable) > 0 {
		warnings = append(
			warnings, fmt.Sprintf(
				"%d profiles cannot be read, so the flame graphs lack them (mend them and make the page "+
					"again); the first is %s", len(unreadable), unreadable[0]))
	}
	return profiles, warnings
}

// byCell are the profiles of r's cells that have any, by the cell's ID. r is the run that they
// were read for, or a copy. p may be nil.
func (p *Profiles) byCell(r *record.Run) map[string]cellProfiles {
	out := map[string]cellProfiles{}
	if p == nil {
		return out
	}
	for i, f := range r.Forks {
		if of, ok := p.byFork[i]; ok && (of.cpu != nil || of.allocs != nil) {
			out[f.Cell.ID()] = of
		}
	}
	return out
}

// profileFolder is the folder of a cell's profiles within the run's, with slashes.
func profileFolder(c record.Cell) string { return path.Join(profilesDir, c.FileName()) }

// profilePath is a profile's path within the run's folder.
func profilePath(c record.Cell, from profileSource) string {
	return path.Join(profileFolder(c), from.file)
}

// ReadProfile reads a profile in pprof's compressed format. It refuses what is no regular file,
// and what is not read to its end within 16 MiB unpacked.
func ReadProfile(files fs.FS, name string) (*profile.Profile, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a named pipe would wait for its writer
		return nil, errors.New("not a regular file")
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("not a profile: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(unpacked, mostProfileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("not a whole profile: %w", err)
	}
	if len(data) > mostProfileBytes {
		return nil, fmt.Errorf("more than %d MiB unpacked", mostProfileBytes>>20)
	}
	p, err := profile.ParseUncompressed(data)
	if err != nil {
		return nil, err
	}
	return p, p.CheckValid()
}

// fold sums the samples of p up by calls. It returns nil if p has no sample.
func fold(p *profile.Profile, from profileSource) (*calls, error) {
	index := func(name string) int {
		return slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == name })
	}
	value, count := index(from.value), index(from.count)
	if value < 0 || count < 0 {
		return nil, fmt.Errorf("no values named %s and %s", from.count, from.value)
	}
	out := newCalls()
	for _, s := range p.Sample {
		stack := stackOf(s)
		if out.frames += len(stack); out.frames > mostFrames {
			return nil, fmt.Errorf("more than %d calls", mostFrames)
		}
		if err := out.add(stack, s.Value[value],
			drawn(s.Value[count], s.Value[value], p.Period, from)); err != nil {
			return nil, err
		}
	}
	if out.root.value == 0 {
		return nil, nil
	}
	return out, nil
}

// stackOf lists the functions of a sample from the outermost call to the innermost, inlined
// calls included. It ends at mostFrames+1, which fold refuses.
func stackOf(s *profile.Sample) (names []string) {
	for _, l := range slices.Backward(s.Location) {
		if len(names) > mostFrames {
			break
		}
		if len(l.Line) == 0 {
			names = append(names, unknownName)
		}
		for _, line := range slices.Backward(l.Line) {
			if line.Function == nil || line.Function.Name == "" {
				names = append(names, unknownName)
				continue
			}
			names = append(names, line.Function.Name)
		}
	}
	return names
}
