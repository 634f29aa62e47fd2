package report

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// storeStacks are the stacks of the profiles in most tests.
func storeStacks(c record.Cell) []recordtest.Stack {
	const bench, cache = ownModule + "bench/internal/",
		"k8s.io/client-go/tools/cache.(*threadSafeMap)."
	return []recordtest.Stack{
		{Functions: []string{"runtime.main", "main.main", bench + "engine.together",
			bench + "subject.(*Store).reader", cache + "List", "runtime.mallocgc"}, Samples: 60},
		{Functions: []string{"runtime.main", "main.main", bench + "engine.together",
			bench + "subject.(*Store).reader", cache + "List"}, Samples: 20},
		{Functions: []string{"runtime.gcBgMarkWorker", "runtime.gcDrain"}, Samples: 15},
		{Functions: []string{bench + "subject.(*Store).reader",
			"example.com/" + c.Impl + ".(*Store).Get"}, Samples: 5},
	}
}

// profiled is a run of two implementations with profiles in its folder.
func profiled(t *testing.T) (dir string, r *record.Run) {
	t.Helper()
	dir, r = t.TempDir(), sampleRun(6)
	if err := recordtest.AddProfiles(dir, r, storeStacks); err != nil {
		t.Fatal(err)
	}
	return dir, r
}

// folder is a run's folder as Write opens it.
func folder(t *testing.T, dir string) fs.FS {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root.FS()
}

func TestReadProfilesReadsEachCell(t *testing.T) {
	t.Parallel()
	dir, r := profiled(t)
	profiles, warnings := ReadProfiles(folder(t, dir), r)
	if len(warnings) > 0 || len(profiles.byFork) != 2 {
		t.Fatalf("%d cells have profiles, want 2; warnings: %v", len(profiles.byFork), warnings)
	}
	for i, p := range profiles.byFork {
		impl := r.Forks[i].Cell.Impl
		if got := p.cpu.root.value; got != 1e9 {
			t.Errorf("%s: %d ns of CPU time, want 100 samples of 10 ms", impl, got)
		}
		if got := p.allocs.root.value; got != 100<<20 {
			t.Errorf("%s: %d bytes, want 100 MiB", impl, got)
		}
		if p.cpu.totals["example.com/"+impl+".(*Store).Get"] == nil {
			t.Errorf("%s has another cell's profile: %v", impl, p.cpu.totals)
		}
	}
}

// The runtime's own profile is read whole: its values sum up to those of the tree.
func TestFoldsWhatTheRuntimeWrites(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&packed, 0); err != nil {
		t.Fatal(err)
	}
	dir, c := t.TempDir(), sampleRun(1).Cells[0]
	put(t, dir, c, "allocs.pb.gz", packed.Bytes())
	p, err := ReadProfile(folder(t, dir), profilePath(c, allocsSource))
	if err != nil {
		t.Fatal(err)
	}
	folded, err := fold(p, allocsSource)
	if err != nil {
		t.Fatal(err)
	}
	var want int64
	for _, s := range p.Sample {
		want += s.Value[1] // alloc_space, which runtime/pprof puts second
	}
	if folded.root.value != want || want == 0 {
		t.Errorf("the tree has %d bytes, the profile %d", folded.root.value, want)
	}
	if n := folded.samples(); n < 1 || n > float64(want) || math.IsNaN(n) {
		t.Errorf("%g samples", n)
	}
}

// Inlined calls are calls: pprof lists them innermost first within a location.
func TestStackHasInlinedCalls(t *testing.T) {
	t.Parallel()
	function := func(name string) profile.Line {
		return profile.Line{Function: &profile.Function{Name: name}}
	}
	s := &profile.Sample{
		Location: []*profile.Location{{}, {Line: []profile.Line{function("inlined"), function("into")}},
			{Line: []profile.Line{function("outermost")}}}}
	if got := strings.Join(stackOf(s), " "); got != "outermost into inlined "+unknownName {
		t.Errorf("the stack is %q", got)
	}
}

// put writes a file into the folder of a cell's profiles.
func put(t *testing.T, dir string, c record.Cell, name string, content []byte) {
	t.Helper()
	path := filepath.Join(dir, profilesDir, c.FileName(), name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err2 := os.WriteFile(path, content, 0o644); err != nil || err2 != nil {
		t.Fatal(errors.Join(err, err2))
	}
}

func packed(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func serialised(t *testing.T, p *profile.Profile) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// cpuProfile has one function, with samples of the values given.
func cpuProfile(values ...int64) *profile.Profile {
	f := &profile.Function{ID: 1, Name: "f"}
	l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"},
			{Type: "cpu", Unit: "nanoseconds"}}, Function: []*profile.Function{f},
		Location: []*profile.Location{l}}
	for _, v := range values {
		p.Sample = append(
			p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{1, v}})
	}
	return p
}

// A file that is damaged, or made to do damage, costs its own graph only.
func TestBadProfilesAreLeftOut(t *testing.T) {
	t.Parallel()
	deep := cpuProfile(1)
	deep.Location[0].Line = make([]profile.Line, 2000)
	for i := range deep.Location[0].Line {
		deep.Location[0].Line[i].Function = deep.Function[0]
	}
	for len(deep.Sample[0].Location) < 1000 {
		deep.Sample[0].Location = append(deep.Sample[0].Location, deep.Location[0])
	}
	other := cpuProfile(1)
	other.SampleType[1].Type = "contentions"
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"empty":               {nil, "not a profile"},
		"text":                {[]byte("no gzip"), "not a profile"},
		"cut off":             {serialised(t, cpuProfile(1))[:40], "not a whole profile"},
		"not a protobuf":      {packed(t, []byte("\xff\xff\xff")), "bad varint"},
		"a bomb":              {packed(t, make([]byte, mostProfileBytes+1)), "more than 16 MiB"},
		"other values":        {serialised(t, other), "no values named samples and cpu"},
		"too many calls":      {serialised(t, deep), "calls"},
		"a sum that overflow": {serialised(t, cpuProfile(math.MaxInt64, 1)), "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, r := profiled(t)
			put(t, dir, r.Cells[0], cpuSource.file, c.content)
			profiles, warnings := ReadProfiles(folder(t, dir), r)
			if len(warnings) != 1 || !strings.Contains(warnings[0], c.want) ||
				!strings.Contains(warnings[0], profilePath(r.Cells[0], cpuSource)) {
				t.Fatalf("the warnings are %q, want one with the file and %q", warnings, c.want)
			}
			for i, p := range profiles.byFork {
				if broken := r.Forks[i].Cell.ID() == r.Cells[0].ID(); (p.cpu == nil) != broken ||
					p.allocs == nil {
					t.Errorf("%s: read %+v", r.Forks[i].Cell.ID(), p)
				}
			}
		})
	}
}

// A fork that was left out has empty profiles, which are no fault of the folder.
func TestProfilesOfNothingAreLeftOut(t *testing.T) {
	t.Parallel()
	run := &record.Run{Forks: []record.Fork{{Unsupported: []string{"fifo: PopBatch"},
		Profiles: []string{"cpu.pb.gz"}}}}
	if _, warnings := ReadProfiles(folder(t, t.TempDir()), run); len(warnings) > 0 {
		t.Errorf("warned %q", warnings)
	}
}

// A run's record without its profiles gives one warning, and no graph.
func TestMissingProfiles(t *testing.T) {
	t.Parallel()
	_, r := profiled(t)
	profiles, warnings := ReadProfiles(folder(t, t.TempDir()), r)
	if len(warnings) != 1 || !strings.Contains(warnings[0], "4 profiles") {
		t.Errorf("the warnings are %q", warnings)
	}
	var page bytes.Buffer
	if err := withProfiles(of(t, r), profiles).WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page.String(), `id="profiles"`) {
		t.Error("the page has a section of no flame graphs")
	}
	if profiles, warnings := ReadProfiles(folder(t, t.TempDir()), sampleRun(1)); len(warnings) > 0 ||
		len(profiles.byFork) > 0 {
		t.Errorf("a run that took no profiles: %v, %v", profiles, warnings)
	}
}

// No link leads out of the run's folder.
func TestProfilesStayInTheFolder(t *testing.T) {
	t.Parallel()
	dir, r := profiled(t)
	secret := filepath.Join(t.TempDir(), "cpu.pb.gz")
	if err := os.WriteFile(secret, serialised(t, cpuProfile(5)), 0o644); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(dir, filepath.FromSlash(profilePath(r.Cells[0], cpuSource)))
	if err := os.Remove(inside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, inside); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if _, err := ReadProfile(folder(t, dir), profilePath(r.Cells[0], cpuSource)); err == nil ||
		errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link out of the folder was followed: %v", err)
	}
	if _, err := ReadProfile(folder(t, dir), "../"+filepath.Base(dir)); err == nil {
		t.Error("a path out of the folder was read")
	}
}

func TestFoldLeavesOutWhatTookNothing(t *testing.T) {
	t.Parallel()
	for _, p := range []*profile.Profile{cpuProfile(), cpuProfile(0), cpuProfile(-5)} {
		if folded, err := fold(p, cpuSource); folded != nil || err != nil {
			t.Errorf("got %v, %v", folded, err)
		}
	}
}
