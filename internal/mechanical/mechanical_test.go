package mechanical

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sample = `package sample

import "sync"

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add(by int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by < 0 || by > 100 {
		c.n++
		return -1
	}
	c.n += by
	for i := 0; i < 2 && c.n != 7; i++ {
		c.touch(by*2 - 1)
	}
	return c.n &^ 1
}

func (c *counter) touch(by int) {
	switch {
	case by == 5:
		c.n = by
		c.n--
	default:
		c.n = c.n<<1 + by
	}
}

func (c *counter) reset(by int) { c.n = 0 }

const fixed = 1 << 3

var list = [fixed]bool{0: true}
`

// write makes a module of the same name as this one, with the sample in it and package
// active, which the rewritten code imports.
func write(t *testing.T) (dir string) {
	dir = t.TempDir()
	active, err := os.ReadFile("active/active.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module " + module + "\n\ngo 1.26\n", "sample/sample.go": sample, "internal/mechanical/active/active.go": string(active),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func instrumented(t *testing.T, spoiled map[Place]bool) (dir string, in Instrumented) {
	dir = write(t)
	p, err := Load(dir, "sample")
	if err != nil {
		t.Fatal(err)
	}
	if in, err = Instrument(p, "sample", spoiled); err != nil {
		t.Fatal(err)
	}
	return dir, in
}

func TestEveryKindOfMutantIsMade(t *testing.T) {
	t.Parallel()
	_, in := instrumented(t, nil)
	var all []string
	for i, m := range in.Mutants {
		all = append(all, m.Function+" | "+m.Source+" | "+m.Mutation)
		if i > 0 && m.ID <= in.Mutants[i-1].ID {
			t.Errorf("%s has number %d after %d", m, m.ID, in.Mutants[i-1].ID)
		}
	}
	for _, want := range []string{
		"(*counter).add | c.mu.Lock() | dropped",
		"(*counter).add | c.mu.Lock() | Lock to Unlock",
		"(*counter).add | defer c.mu.Unlock() | dropped",
		"(*counter).add | by < 0 || by > 100 | true",
		"(*counter).add | by < 0 || by > 100 | negated",
		"(*counter).add | by < 0 || by > 100 | || to &&",
		"(*counter).add | by < 0 || by > 100 | right operand alone",
		"(*counter).add | by < 0 | < to <=",
		"(*counter).add | by > 100 | > to >=",
		"(*counter).add | by > 100 | 100 to 100-1",
		"(*counter).add | c.n++ | dropped",
		"(*counter).add | c.n++ | ++ to --",
		"(*counter).add | return -1 | dropped",
		"(*counter).add | c.n += by | += to -=",
		"(*counter).add | c.n != 7 | negated",
		"(*counter).add | by*2 - 1 | - to +",
		"(*counter).add | by*2 | * to /",
		"(*counter).add | c.touch(by*2 - 1) | touch to reset",
		"(*counter).add | c.n &^ 1 | &^ to &",
		"(*counter).touch | by == 5 | false",
		"(*counter).touch | c.n = by | case dropped",
		"(*counter).touch | c.n<<1 | << to >>",
		" | 0: true | true negated",
	} {
		if !slices.Contains(all, want) {
			t.Errorf("no mutant %q in\n%s", want, strings.Join(all, "\n"))
		}
	}
	for _, got := range all {
		if strings.Contains(got, "fixed") {
			t.Errorf("%q must be constant", got)
		}
	}
}

// The rewritten code compiles, and lines keep their numbers.
func TestTheRewrittenCompiles(t *testing.T) {
	t.Parallel()
	dir, in := instrumented(t, nil)
	for path, text := range in.Files {
		if strings.Count(string(text), "\n") != strings.Count(sample, "\n") {
			t.Errorf("%s has other lines:\n%s", path, text)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := goBuild(t.Context(), dir, "./..."); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

func TestSpoiledLinesAreLeftAlone(t *testing.T) {
	t.Parallel()
	_, whole := instrumented(t, nil)
	dir := write(t)
	p, err := Load(dir, "sample")
	if err != nil {
		t.Fatal(err)
	}
	line := whole.Mutants[0].Line
	in, err := Instrument(p, "sample", map[Place]bool{{filepath.Join(dir, "sample", "sample.go"), line}: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Mutants) == len(whole.Mutants) || slices.ContainsFunc(in.Mutants, func(m Mutant) bool { return m.Line == line }) {
		t.Errorf("line %d is mutated though it is spoiled", line)
	}
}

func TestRefusedLinesAreRead(t *testing.T) {
	t.Parallel()
	spoiled := map[Place]bool{}
	said := "# some/package\n/tmp/x/overlay-a.go:7:12: cannot use\nb.go:9:1: missing return\n"
	from := map[string]string{"/tmp/x/overlay-a.go": "/src/a.go"}
	if !refused("/src", said, from, spoiled) || !spoiled[Place{"/src/a.go", 7}] || !spoiled[Place{"/src/b.go", 9}] || len(spoiled) != 2 {
		t.Errorf("%v", spoiled)
	}
	if refused("/src", said, from, spoiled) {
		t.Error("the same refusals count as new")
	}
}

func verdict(source, clause string) Verdict {
	return Verdict{Mutant: Mutant{Package: "core/impl/dense", Function: "f", Source: source, Mutation: "dropped", N: 1}, Clause: clause, Reached: true}
}

func TestTheLedgerExcuses(t *testing.T) {
	t.Parallel()
	reason := func(source string) Reason {
		return Reason{Package: "core/impl/dense", Function: "f", Source: source, Mutations: []string{"dropped"}, Reason: "why"}
	}
	other := reason("elsewhere")
	other.Package = "core/queue/delay"
	s := Sort(Target{Dir: "core/impl/dense"}, []Verdict{verdict("a", "STORE-1"), verdict("b", ""), verdict("c", ""), verdict("d", "STORE-2")},
		[]Reason{reason("b"), reason("d"), reason("gone"), other})
	if len(s.Killed) != 2 || len(s.Equivalent) != 1 || len(s.Open) != 1 || s.Open[0].Source != "c" {
		t.Errorf("killed %v, equivalent %v, open %v", s.Killed, s.Equivalent, s.Open)
	}
	if len(s.Stale) != 1 || s.Stale[0].Source != "gone" || len(s.Needless) != 1 || s.Needless[0].Source != "d" {
		t.Errorf("stale %v, needless %v", s.Stale, s.Needless)
	}
	if got := s.Score(); got < 0.66 || got > 0.67 {
		t.Errorf("score %v, want two of three", got)
	}
}

// Every reason matches an existing mutant.
func TestTheLedgerIsNotStale(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := ReadLedger(filepath.Join(root, LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range Targets() {
		p, err := Load(root, target.Dir)
		if err != nil {
			t.Fatal(err)
		}
		in, err := Instrument(p, target.Dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(in.Mutants) < 100 {
			t.Errorf("%s: %d mutants only", target.Dir, len(in.Mutants))
		}
		for _, r := range ledger {
			if r.Package == target.Dir && !slices.ContainsFunc(in.Mutants, r.matches) {
				t.Errorf("a reason for no mutant: %s %s: %s %v", r.Package, r.Function, r.Source, r.Mutations)
			}
		}
	}
	page, err := os.ReadFile(filepath.Join(root, pageFile))
	if err != nil {
		t.Fatal(err)
	}
	results, err := ReadResults(root)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != Page(results) {
		t.Errorf("%s is not what its results give: run make mechanical", pageFile)
	}
}

// Some mutants of one function of a store are really judged: one breaks a clause, one
// hangs, and one crashes.
func TestAFewMutantsAreJudged(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a judge, which takes half a minute")
	}
	niceness = 0
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{ // by source and mutation, what is said
		"s.mu.version = rv: dropped":    "LastStoreSyncResourceVersion",
		"s.mu.Unlock(): dropped":        "without progress",
		"s.mu.Unlock(): Unlock to Lock": "without progress",
		"s.mu.Lock(): dropped":          "the process ended",
	}
	verdicts, err := Run(t.Context(), root, Targets()[0], Options{
		Rounds: []float64{0.02}, Begin: func(int) {}, Progress: func(int, int, Verdict) {},
		Pick: func(m Mutant) bool { return m.Function == "(*Store).Bookmark" && want[m.Source+": "+m.Mutation] != "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(verdicts) != len(want) {
		t.Errorf("%d verdicts, want %d", len(verdicts), len(want))
	}
	for _, v := range verdicts {
		if said := want[v.Source+": "+v.Mutation]; v.Clause == "" || !strings.Contains(v.How, said) {
			t.Errorf("%s: clause %q, %q; want %q", v.Mutant, v.Clause, v.How, said)
		}
	}
}

// A journal returns the kills and not the survivors, which a new case may catch.
func TestTheJournalGoesOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	for round := range 2 {
		j, err := OpenJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(j.Known) != round {
			t.Errorf("round %d: %v", round, j.Known)
		}
		for _, v := range []Verdict{verdict("a", "STORE-1"), verdict("b", "")} {
			if err := j.Add(v); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The last line is incomplete, as after a kill: it is removed, and later lines can be
	// read.
	if err := os.WriteFile(path, append(whole, `{"ID":3,"Pack`...), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		j, err := OpenJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Add(verdict("c", "STORE-3")); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, []byte("no journal"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(path); err == nil || !strings.Contains(err.Error(), "no journal of verdicts") {
		t.Errorf("%v", err)
	}
}
