package mechanical

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// LedgerFile is the path of the reasons, relative to the module's folder.
const LedgerFile = "internal/mechanical/ledger.yaml"

// Reason says why the mutants that it matches are equivalent.
type Reason struct {
	Package  string `yaml:"package"`
	Function string `yaml:"function"`
	Source   string `yaml:"source"`
	// Mutations are values of Mutant.Mutation; none means all.
	Mutations []string `yaml:"mutations,omitempty"`
	// N are values of Mutant.N; none means all.
	N      []int  `yaml:"n,omitempty"`
	Reason string `yaml:"reason"`
}

// matches reports whether the reason applies to the mutant.
func (r Reason) matches(m Mutant) bool {
	return r.Package == m.Package && r.Function == m.Function && r.Source == m.Source &&
		(len(r.Mutations) == 0 || slices.Contains(r.Mutations, m.Mutation)) && (len(r.N) == 0 || slices.Contains(r.N, m.N))
}

// ReadLedger reads the reasons and checks that each one is complete.
func ReadLedger(path string) ([]Reason, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var ledger []Reason
	if err := unmarshal(data, &ledger); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i, r := range ledger {
		if r.Package == "" || r.Source == "" || strings.TrimSpace(r.Reason) == "" {
			return nil, fmt.Errorf("%s: entry %d (%s, %s) lacks its package, source or reason", path, i+1, r.Function, r.Source)
		}
	}
	return ledger, nil
}

// unmarshal refuses unknown fields.
func unmarshal(data []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	return d.Decode(into)
}

// Sorted groups verdicts by what they show about the suites.
type Sorted struct {
	Killed     []Verdict
	Equivalent []Excused
	Open       []Verdict // survivors without a reason
	// Stale are the target's reasons that match no mutant. Needless are those whose mutants
	// are all killed.
	Stale, Needless []Reason
}

// Excused is a survivor with its reason.
type Excused struct {
	Verdict
	Reason string
}

// Sort compares verdicts with the ledger. They must be of all mutants of one package.
func Sort(target Target, verdicts []Verdict, ledger []Reason) (s Sorted) {
	matched, used := make([]bool, len(ledger)), make([]bool, len(ledger))
	for _, v := range verdicts {
		reason := -1
		for i, r := range ledger {
			if r.matches(v.Mutant) {
				matched[i] = true
				reason = i
			}
		}
		switch {
		case v.Clause != "":
			s.Killed = append(s.Killed, v)
		case reason >= 0:
			used[reason] = true
			s.Equivalent = append(s.Equivalent, Excused{v, ledger[reason].Reason})
		default:
			s.Open = append(s.Open, v)
		}
	}
	for i, r := range ledger {
		switch {
		case r.Package != target.Dir:
		case !matched[i]:
			s.Stale = append(s.Stale, r)
		case !used[i]:
			s.Needless = append(s.Needless, r)
		}
	}
	return s
}

// Score is the share of killed mutants among those that are not equivalent.
func (s Sorted) Score() float64 {
	return float64(len(s.Killed)) / float64(max(1, len(s.Killed)+len(s.Open)))
}
