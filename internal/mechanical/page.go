package mechanical

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	resultsDir = "internal/mechanical/results"
	pageFile   = "docs/mechanical-mutants.md"
)

// Results is the outcome of the last complete run over a package, as stored beside the
// tool.
type Results struct {
	Package string         `yaml:"package"`
	Mutants int            `yaml:"mutants"`
	Killed  map[string]int `yaml:"killed"` // by clause
	// Equivalent and Open are the survivors with and without a reason.
	Equivalent []Survivor `yaml:"equivalent"`
	Open       []Survivor `yaml:"open"`
}

// Survivor is a mutant that no suite detected. It has no line, because any edit changes
// that.
type Survivor struct {
	Function string `yaml:"function"`
	Source   string `yaml:"source"`
	Mutation string `yaml:"mutation"`
	N        int    `yaml:"n"`
	Reached  bool   `yaml:"reached"`
	Reason   string `yaml:"reason,omitempty"`
}

func resultsFile(root, dir string) string {
	return filepath.Join(root, resultsDir, strings.ReplaceAll(dir, "/", "-")+".yaml")
}

// WriteResults stores the outcome of a complete run over a package.
func WriteResults(root string, target Target, s Sorted) error {
	r := Results{Package: target.Dir, Mutants: len(s.Killed) + len(s.Equivalent) + len(s.Open)}
	_, r.Killed = Clauses(s.Killed)
	return r.write(root, s)
}

// Merge updates the results of the last complete run after its survivors were judged again,
// or compared with a new ledger. The verdicts are of all its survivors.
func (r Results) Merge(root string, s Sorted) error {
	_, more := Clauses(s.Killed)
	for clause, n := range more {
		r.Killed[clause] += n
	}
	r.Equivalent, r.Open = nil, nil
	return r.write(root, s)
}

// Survivors are the last run's surviving mutants as verdicts, with a reason and without.
func (r Results) Survivors() (excused, open []Verdict) {
	verdicts := func(list []Survivor) (out []Verdict) {
		for _, v := range list {
			m := Mutant{Package: r.Package, Function: v.Function, Source: v.Source, Mutation: v.Mutation, N: v.N}
			out = append(out, Verdict{Mutant: m, Reached: v.Reached})
		}
		return out
	}
	return verdicts(r.Equivalent), verdicts(r.Open)
}

// write adds the survivors and writes the results.
func (r Results) write(root string, s Sorted) error {
	for _, e := range s.Equivalent {
		r.Equivalent = append(r.Equivalent, survivor(e.Verdict, e.Reason))
	}
	for _, v := range s.Open {
		r.Open = append(r.Open, survivor(v, ""))
	}
	data, err := yaml.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(root, resultsDir), 0o755); err != nil {
		return err
	}
	return os.WriteFile(resultsFile(root, r.Package), data, 0o644)
}

func survivor(v Verdict, reason string) Survivor {
	return Survivor{Function: v.Function, Source: v.Source, Mutation: v.Mutation, N: v.N, Reached: v.Reached, Reason: reason}
}

// ReadResults reads the stored results of the packages; packages that never ran are
// missing.
func ReadResults(root string) (all []Results, err error) {
	for _, t := range Targets() {
		data, err := os.ReadFile(resultsFile(root, t.Dir))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var r Results
		if err := unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", resultsFile(root, t.Dir), err)
		}
		all = append(all, r)
	}
	return all, nil
}

// WritePage writes docs/mechanical-mutants.md from the results.
func WritePage(root string) error {
	all, err := ReadResults(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, pageFile), []byte(Page(all)), 0o644)
}

const intro = `# Mechanical mutants

` + "`make mechanical`" + ` writes this page. Do not edit it: the reasons stand in ` + "`" + LedgerFile + "`" + `.

A tool changes one thing at a time in a package: a condition, a bound, a constant, an operator, a statement, a call. The importable conformance suites then judge the changed package; its own tests do not count. A mutant is killed by the clause whose case accuses it, or whose case was running when the process crashed. A survivor is either equivalent, because the contract promises nothing that depends on it, or open, because a suite has a gap.

- All mutants of a package are in one binary, which ` + "`go build -overlay`" + ` makes; the tree is not touched. A process with a memory limit runs for each mutant.
- A mutant meets only the clauses whose cases come to its place, the quickest first. A survivor is tried again with a fifth of the suite's random cases, and with all unless it has a reason, with other seeds. The store lockfree is not mutated so: a mutant of lock-free code mostly needs an interleaving to show, which the explorer's planted faults are for.
- The score is killed / (killed + open).
`

// Page is the page as Markdown.
func Page(all []Results) string {
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString("\n| package | mutants | killed | equivalent | open | score |\n|---|---|---|---|---|---|\n")
	for _, r := range all {
		killed := 0
		for _, n := range r.Killed {
			killed += n
		}
		fmt.Fprintf(&b, "| `%s` | %d | %d | %d | %d | %.1f%% |\n", r.Package, r.Mutants, killed, len(r.Equivalent), len(r.Open),
			100*float64(killed)/float64(max(1, killed+len(r.Open))))
	}
	for _, t := range Targets() {
		if !slices.ContainsFunc(all, func(r Results) bool { return r.Package == t.Dir }) {
			fmt.Fprintf(&b, "| `%s` | not judged yet | | | | |\n", t.Dir)
		}
	}
	for _, r := range all {
		fmt.Fprintf(&b, "\n## %s\n\nKilled by: %s.\n", r.Package, clauses(r.Killed))
		table(&b, "Equivalent", "reason", r.Equivalent, func(s Survivor) string { return s.Reason })
		table(&b, "Open", "seen by a case", r.Open, func(s Survivor) string {
			if s.Reached {
				return "yes"
			}
			return "no"
		})
	}
	return b.String()
}

func clauses(kills map[string]int) string {
	type kill struct {
		clause string
		n      int
	}
	var list []kill
	for clause, n := range kills {
		list = append(list, kill{clause, n})
	}
	slices.SortFunc(list, func(a, b kill) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.clause, b.clause))
	})
	var out []string
	for _, k := range list {
		out = append(out, fmt.Sprintf("%s %d", k.clause, k.n))
	}
	return strings.Join(out, ", ")
}

// table writes survivors. Survivors with equal place and last column share a row.
func table(b *strings.Builder, title, last string, list []Survivor, of func(Survivor) string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n| function | source | mutation | %s |\n|---|---|---|---|\n", title, last)
	for i := 0; i < len(list); {
		s := list[i]
		var mutations []string
		for ; i < len(list) && list[i].Function == s.Function && list[i].Source == s.Source && of(list[i]) == of(s); i++ {
			mutations = append(mutations, list[i].Mutation)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", s.Function, code(s.Source), cell(strings.Join(mutations, "; ")), cell(of(s)))
	}
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// code quotes source text: a table's cell ends at a bar even in code.
func code(s string) string { return "`" + cell(strings.ReplaceAll(s, "`", "'")) + "`" }
