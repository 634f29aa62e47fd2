package record

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// Schema is the version of run.json that this build writes. It grows when numbers change
// their meaning, or when a reader of the former version would misread the file.
//   - 1: ns/op is the median of adjacent batches.
//   - 2: ns/op is a low quantile of separate passes.
//   - 3: for operations that cause many garbage collections, a pass is of whole
//     cycles between them.
//   - 4: the files have checksums; the numbers are those of 3.
//   - 5: a series may have a duet. It was given up before anything was kept of it.
//   - 6: given up like 5.
//   - 7: operations measured alone take turns with the reference; ns/op has no garbage
//     collection in it.
//   - 8: a series may have ratios to the pair's base, whose processes take turns with head's
//     (bench.Play); the numbers are those of 7.
//   - 9: a fork names its machine, and a run may be one shard of several, or joined from
//     shards; the numbers are those of 7.
//   - 10: a run has hashes of the code that it measured, and histograms have two digits; the
//     numbers are those of 7.
const Schema = 10

// TurnsSchema is the first schema whose benchrun can take turns with another, process with
// process.
const TurnsSchema = 8

// machinesSchema is the first schema whose forks name their machine.
const machinesSchema = 9

// sealedSchema is the first schema whose files have checksums.
const sealedSchema = 4

// sourcesSchema is the first schema whose runs have hashes of their code.
const sourcesSchema = 10

// SameNumbers reports whether the numbers of two schemas have the same meaning, so that
// runs of both may be compared.
func SameNumbers(a, b int) bool {
	// None of these schemas changed a number.
	kind := func(schema int) int {
		for _, same := range []int{sourcesSchema, machinesSchema, TurnsSchema, sealedSchema} {
			if schema == same {
				schema--
			}
		}
		return schema
	}
	return kind(a) == kind(b)
}

// RunFile is the name of a run's record in its folder.
const RunFile = "run.json"

// PackedFile is the name of a run's record that was compressed with gzip, in place of RunFile.
const PackedFile = RunFile + ".gz"

// Run is the whole record of one call of benchrun.
type Run struct {
	Schema int    `json:"schema"`
	Name   string `json:"name"` // of the folder
	Preset string `json:"preset"`
	// that measured it; of a run that was joined, its first shard
	Command  []string  `json:"command"`
	Joined   []string  `json:"joined,omitempty"` // the command that joined it from shards
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	// Complete is false where the run was interrupted: Forks then holds the forks so far.
	Complete    bool                `json:"complete"`
	Settings    Settings            `json:"settings"`
	Environment sysinfo.Environment `json:"environment"`
	Workloads   []WorkloadText      `json:"workloads"`
	Impls       []Implementation    `json:"implementations"`
	Cells       []Cell              `json:"cells"`
	// Sources are hashes of the code that was measured, by what it is of: an implementation as
	// component/name, the instrument, the loads. There are none where the program's source was
	// not at hand.
	Sources map[string]string `json:"sources,omitempty"`
	// Looks lists the additions of forks to inconclusive workloads.
	Looks []Look `json:"looks,omitempty"`
	// Checks are the run's checks beside its measurements, such as that all stores end a
	// trace in the same state.
	Checks   []CheckResult `json:"checks,omitempty"`
	Forks    []Fork        `json:"forks"`
	Warnings []string      `json:"warnings,omitempty"`
	// Shards are the shards that the run was joined from; none for a run of one machine.
	Shards []ShardRun `json:"shards,omitempty"`
}

// Settings are the parameters of a run.
type Settings struct {
	Forks      int    `json:"forks"`
	Seed       uint64 `json:"seed"`
	Profile    bool   `json:"profile"`
	SkipVerify bool   `json:"skipVerify,omitempty"`
	Trace      string `json:"trace,omitempty"`
	TraceSum   string `json:"traceSum,omitempty"` // SHA-256 of the trace's file, in hex
	// Times is how many copies of the trace were replayed; 0 means 1.
	Times int        `json:"times,omitempty"`
	Rule  stats.Rule `json:"rule"`
	// Budget is the time for additional forks of inconclusive workloads; 0 fixes the number
	// of forks beforehand.
	Budget time.Duration `json:"budget,omitempty"`
	// Pair says that the forks took turns with those of another run.
	Pair bool `json:"pair,omitempty"`
	// Turns says that operations measured alone took turns with those of the other run,
	// process with process, in place of the reference.
	Turns bool `json:"turns,omitempty"`
	// Plant is a deliberate slowdown of a store.
	Plant *Plant `json:"plant,omitempty"`
	// Shard is the part of the run that this record is of; nil for a whole run. Forks, the
	// workloads and the cells are those of the whole run.
	Shard *Shard `json:"shard,omitempty"`
}

// Plant slows one store down, to test whether gates find it.
type Plant struct {
	Impl  string  `json:"impl"`
	Share float64 `json:"share"` // 0.1 makes each operation take a tenth longer
}

// Look is one addition of forks to cells of a workload, decided by the verdicts so far.
type Look struct {
	Workload string `json:"workload"` // key
	Forks    int    `json:"forks"`    // of each of these cells from then on
	// Impls are the implementations whose cells get more forks, the second copy of the
	// reference with the first. If there are none, all cells of the workload do.
	Impls []string `json:"impls,omitempty"`
}

// adds reports whether the look adds forks to a cell.
func (l Look) adds(c Cell) bool {
	return l.Workload == c.WorkloadKey() && (len(l.Impls) == 0 || slices.Contains(l.Impls, c.Impl))
}

// WorkloadText is a workload as YAML, with its sweep resolved.
type WorkloadText struct {
	Key    string `json:"key"` // Cell.WorkloadKey of the cells that run it
	Name   string `json:"name"`
	Source string `json:"source,omitempty"`
	YAML   string `json:"yaml"`
}

// The values of Implementation.Verified.
const (
	VerifyPassed  = "passed"
	VerifyFailed  = "failed"
	VerifySkipped = "skipped"
)

// Implementation describes a measured implementation and the outcome of its conformance
// suite.
type Implementation struct {
	Component   string   `json:"component"`
	Name        string   `json:"name"`
	Module      string   `json:"module"`
	Description string   `json:"description"`
	Guarantees  string   `json:"guarantees"`
	Reference   bool     `json:"reference,omitempty"` // the others are compared with it
	Waivers     []Waiver `json:"waivers,omitempty"`
	// Verified is one of VerifyPassed, VerifyFailed and VerifySkipped.
	Verified    string   `json:"verified"`
	Seed        uint64   `json:"seed,omitempty"` // of the suite
	CasesPassed int      `json:"casesPassed"`
	Skipped     []Waiver `json:"skipped,omitempty"` // cases that do not apply, with the reason
	Failures    []string `json:"failures,omitempty"`
}

// Waiver is a clause that was not tested, and the reason.
type Waiver struct {
	Clause string `json:"clause"`
	Reason string `json:"reason"`
}

// CheckResult is the outcome of one check.
type CheckResult struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Detail string `json:"detail"`
}

// Workload returns the workload that a cell runs.
func (r *Run) Workload(c Cell) (WorkloadText, error) {
	key := c.WorkloadKey()
	for _, w := range r.Workloads {
		if w.Key == key {
			return w, nil
		}
	}
	return WorkloadText{}, fmt.Errorf("workloads: none has the key %q of cell %s", key, c.ID())
}

// Schedule is the order of the run's forks; for a shard, of those that it measures.
func (r *Run) Schedule() []Planned {
	s := r.Settings
	plan := Schedule(r.Cells, r.ForksOf, s.Profile, s.Seed)
	if s.Shard == nil {
		return plan
	}
	return slices.DeleteFunc(plan, func(p Planned) bool { return !s.Shard.has(p) })
}

// ForksOf is the requested number of forks of a cell.
func (r *Run) ForksOf(c Cell) int {
	n := r.Settings.Forks
	for _, l := range r.Looks {
		if l.adds(c) {
			n = max(n, l.Forks)
		}
	}
	return n
}

// LookAt counts the looks at a verdict on the cell, including the present one. It is 0
// where the number of forks was fixed beforehand (see Rule.AtLook).
func (r *Run) LookAt(c Cell) int {
	if r.Settings.Budget == 0 {
		return 0
	}
	n := 1
	for _, l := range r.Looks {
		if l.adds(c) {
			n++
		}
	}
	return n
}

// MadeBy is the command that wrote the run's record: the one that joined it, or that measured it.
func (r *Run) MadeBy() []string {
	if len(r.Joined) > 0 {
		return r.Joined
	}
	return r.Command
}

// ReferenceOf returns the one of some cells that the others are compared with: the catalog's
// reference implementation, else the first cell.
func (r *Run) ReferenceOf(cells []Cell) Cell {
	for _, c := range cells {
		for _, im := range r.Impls {
			if im.Component == string(c.Component) && im.Name == c.Impl && im.Reference && c.Role == "" {
				return c
			}
		}
	}
	return cells[0]
}

// Planted reports whether an implementation was slowed down on purpose.
func (r *Run) Planted(component contract.Component, impl string) bool {
	p := r.Settings.Plant
	return p != nil && p.Share > 0 && component == contract.ComponentStore && p.Impl == impl
}

// Against returns the implementation with which a cell's takes turns: that of the reference
// cell of the same workload, which takes turns with itself.
func (r *Run) Against(c Cell) string {
	var group []Cell
	for _, o := range r.Cells {
		if o.SameExceptImpl(c) {
			group = append(group, o)
		}
	}
	return r.ReferenceOf(group).Impl
}

// Measured returns the forks of a cell whose numbers count: those without profiles.
func (r *Run) Measured(c Cell) []Fork {
	var out []Fork
	for i := range r.Forks { // each row of a report asks
		if f := &r.Forks[i]; len(f.Profiles) == 0 && f.Cell.Same(c) {
			out = append(out, *f)
		}
	}
	return out
}

// Values collects one metric of one series over the forks of a cell that have it.
func (r *Run) Values(c Cell, series, metric string) []float64 {
	var out []float64
	for _, f := range r.Measured(c) {
		for _, s := range f.Series {
			if s.Name() == series {
				if v, ok := s.Values[metric]; ok {
					out = append(out, v)
				}
			}
		}
	}
	return out
}

// ProcessValues collects one metric of the process over the forks of a cell.
func (r *Run) ProcessValues(c Cell, metric string) []float64 {
	var out []float64
	for _, f := range r.Measured(c) {
		if v, ok := f.Process[metric]; ok {
			out = append(out, v)
		}
	}
	return out
}

// Stamp formats the UTC time with which the name of a run's folder begins, unless the user
// names the folder.
func Stamp(t time.Time) string { return t.UTC().Format("20060102T150405Z") }

// WriteRun writes the record into dir, whole or not at all.
func WriteRun(dir string, r *Run) error {
	return writeJSON(filepath.Join(dir, RunFile), r)
}

func writeJSON(path string, v any) error {
	b, err := sealedJSON(v)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return WriteFile(path, b)
}

func sealedJSON(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return nil, err
	}
	return seal(b), nil
}

// ReadRun reads the record of the run in dir, even of one that was interrupted at any
// moment. The error names the file and the wrong field, or a link: see NoLinks.
func ReadRun(dir string) (*Run, error) {
	if err := NoLinks(cmp.Or(dir, ".")); err != nil {
		return nil, err
	}
	return ReadRunFS(os.DirFS(cmp.Or(dir, ".")), dir)
}

// ReadRunFS is ReadRun for a folder that is not reached by a path: every file is opened
// through folder, so that a caller can say which files may be read at all. dir stands for the
// folder in errors.
func ReadRunFS(folder fs.FS, dir string) (*Run, error) {
	path := filepath.Join(dir, RunFile)
	if info, err := fs.Stat(folder, RunFile); err == nil && !info.Mode().IsRegular() {
		// reading a pipe or a device may not end
		return nil, fmt.Errorf("%s: it is no regular file", path)
	}
	b, err := fs.ReadFile(folder, RunFile)
	if errors.Is(err, fs.ErrNotExist) {
		path = filepath.Join(dir, PackedFile)
		b, err = unpack(folder)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no %s there; give the folder of a run, such as one under results/",
			dir, RunFile)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	file := unseal(b)
	var head struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(file.text, &head); err != nil {
		return nil, fmt.Errorf("%s: not whole JSON: %w (truncated or edited?)", path, err)
	}
	if head.Schema > Schema {
		return nil, fmt.Errorf(
			"%s: schema: %d is newer than this benchrun knows (up to %d); use the benchrun that wrote "+
				"it, or a newer one", path, head.Schema, Schema)
	}
	if head.Schema < 1 {
		return nil, fmt.Errorf("%s: schema: %d is no schema (1 to %d are)", path, head.Schema, Schema)
	}
	r := &Run{}
	if err := decode(path, file, r, head.Schema); err != nil {
		return nil, err
	}
	if err := r.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := mergeForks(folder, dir, r); err != nil {
		return nil, err
	}
	return r, nil
}

// mostUnpacked is far above any run's record, and keeps a prepared one from taking all memory.
const mostUnpacked = 1 << 30

// unpack reads a packed record.
func unpack(folder fs.FS) ([]byte, error) {
	info, err := fs.Stat(folder, PackedFile)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: it is no regular file", PackedFile)
	}
	f, err := folder.Open(PackedFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read
	packed, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", PackedFile, err)
	}
	b, err := io.ReadAll(io.LimitReader(packed, mostUnpacked+1))
	if err == nil && len(b) > mostUnpacked {
		err = fmt.Errorf("more than %d MiB unpacked", mostUnpacked>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", PackedFile, err)
	}
	return b, nil
}

// Pack writes the record into dir as PackedFile. It leaves no RunFile there.
func Pack(dir string, r *Run) error {
	text, err := sealedJSON(r)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	packed, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := packed.Write(text); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	if err := WriteFile(filepath.Join(dir, PackedFile), b.Bytes()); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, RunFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// forkKey names a fork within a run: the ID of its cell, and its index there.
type forkKey struct {
	cell  string
	index int
}

// Lacking is what the run does not have of its schedule. It costs O(schedule + forks).
func (r *Run) Lacking() []Planned {
	there := map[forkKey]bool{}
	for i := range r.Forks {
		there[forkKey{r.Forks[i].Cell.ID(), r.Forks[i].Index}] = true
	}
	return slices.DeleteFunc(r.Schedule(), func(p Planned) bool {
		return there[forkKey{p.Cell.ID(), p.Index}]
	})
}

// has reports whether the record has the fork of a cell.
func (r *Run) has(c Cell, index int) bool {
	return slices.ContainsFunc(r.Forks, func(f Fork) bool {
		return f.Index == index && f.Cell.ID() == c.ID()
	})
}
