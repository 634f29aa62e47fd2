package advise

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
)

// root is the repository.
const root = ".."

// everyEvidence calls f for all statements of the table.
func everyEvidence(t *Table, f func(where string, e Evidence)) {
	for name, e := range t.Prices {
		f("price "+name, e)
	}
	for key, e := range t.Memory {
		f("memory of "+key, e)
	}
	for _, r := range t.Rules {
		for i, e := range r.Because {
			f(fmt.Sprintf("rule %s, reason %d", r.Name, i+1), e)
		}
		if r.Unless != nil {
			f("rule "+r.Name+", unless", *r.Unless)
		}
	}
}

// hasPrice reports whether a rule says what its implementation costs. Memory is a cost where it is
// more than the reference's.
func hasPrice(t *Table, r Rule) bool {
	b := t.Memory[implementation(r.Component, r.Use)].Bytes
	return len(r.Price) > 0 || b != nil && b.Own > b.Reference
}

func TestRulesNameTheCatalog(t *testing.T) {
	t.Parallel()
	table := Rules()
	names, usedPrices, usedLines := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range table.Rules {
		if names[r.Name] {
			t.Errorf("rule %s is there twice", r.Name)
		}
		names[r.Name] = true
		if !strings.HasPrefix(r.Name, string(r.Component)+"-") || r.What == "" || len(r.Because) == 0 ||
			!hasPrice(table, r) {
			t.Errorf("rule %s lacks its component in front, a description, a reason or a price", r.Name)
		}
		e, err := catalog.Lookup(r.Component, r.Use)
		if err != nil || e.Study {
			t.Errorf("rule %s recommends %q: study %v, %v", r.Name, r.Use, e.Study, err)
		}
		key := implementation(r.Component, r.Use)
		usedLines[key] = true
		for _, p := range Programs() {
			if l := table.Lines[key][p]; l.Code == "" && l.Note == "" {
				t.Errorf("lines of %s say nothing for %s", key, p)
			}
		}
		for _, p := range r.Price {
			usedPrices[p] = true
			if _, have := table.Prices[p]; !have {
				t.Errorf("rule %s: no price %q", r.Name, p)
			}
		}
	}
	for name := range table.Prices {
		if !usedPrices[name] {
			t.Errorf("price %s: no rule has it", name)
		}
	}
	for key := range table.Memory {
		if !usedLines[key] {
			t.Errorf("memory of %s: no rule recommends it", key)
		}
	}
	everyEvidence(table, func(where string, e Evidence) {
		if (e.Bytes != nil) != strings.HasPrefix(where, "memory of ") {
			t.Errorf("%s: bytes stand under memory, and only there", where)
		}
	})
	for key := range table.Lines {
		if !usedLines[key] {
			t.Errorf("lines of %s: no rule recommends it", key)
		}
	}
	for _, c := range load.Components() {
		if len(table.Of(c)) == 0 {
			t.Errorf("no rule is about a %s", c)
		}
	}
}

// Every statement has a page and a section that exist, and a command that benchrun takes.
func TestEvidenceCanBeFollowed(t *testing.T) {
	t.Parallel()
	everyEvidence(Rules(), func(where string, e Evidence) {
		if (e.Record == "") == (e.Source == "") {
			t.Errorf("%s: want a record or a source, not both", where)
		}
		page, err := os.ReadFile(filepath.Join(root, e.Page))
		if err != nil {
			t.Errorf("%s: %v", where, err)
		}
		if e.Section != "" && !regexp.MustCompile(`(?m)^#+ `+regexp.QuoteMeta(e.Section)+`$`).Match(
			page) {
			t.Errorf("%s: %s has no section %q", where, e.Page, e.Section)
		}
		if err := checkCommand(e.Measure); err != nil {
			t.Errorf("%s: %q: %v", where, e.Measure, err)
		}
		for sentence := range strings.SplitSeq(e.Text(), ". ") {
			if n := len(strings.Fields(sentence)); n > 32 { // numbers with intervals count as three words
				t.Errorf("%s: a sentence of %d words: %s", where, n, sentence)
			}
		}
	})
}

// checkCommand checks the names in a command that measures something again.
func checkCommand(command string) error {
	words := strings.Fields(command)
	if len(words) == 3 && words[0] == "go" && words[1] == "test" {
		_, err := os.Stat(
			filepath.Join(root, strings.TrimPrefix(words[2], "github.com/informerbench/informerbench/")))
		return err
	}
	if len(words) < 2 || words[0] != "benchrun" || words[1] != "run" && words[1] != "verify" {
		return fmt.Errorf("want benchrun run, benchrun verify or go test")
	}
	flags := map[string]string{}
	for i := 2; i+1 < len(words); i += 2 {
		flags[words[i]] = words[i+1]
	}
	c := contract.Component(flags["--component"])
	var ofPreset []load.Workload
	if words[1] == "run" {
		p, err := load.LookupPreset(flags["--preset"])
		if err != nil {
			return err
		}
		ofPreset = p.Workloads
	}
	for name := range strings.SplitSeq(flags["--impl"], ",") {
		if _, err := catalog.Lookup(c, name); err != nil {
			return err
		}
	}
	if words[1] == "run" && !slices.ContainsFunc(ofPreset, func(w load.Workload) bool {
		return w.Component == c
	}) {
		return fmt.Errorf("preset %s measures no %s", flags["--preset"], c)
	}
	return nil
}

// Rules have an order, and none is hidden behind those before it.
func TestEveryRuleDecidesSomewhere(t *testing.T) {
	t.Parallel()
	for _, r := range Rules().Rules {
		decided := false
		for _, l := range corners(r.When) {
			for _, a := range Rules().Advise(Question{Load: l}) {
				decided = decided || a.Rule == r.Name
			}
		}
		if !decided {
			t.Errorf("rule %s decides at no corner of its ranges: an earlier one hides it", r.Name)
		}
	}
}

// corners are loads at the ends and in the middle of a condition's ranges.
func corners(w Condition) []Load {
	loads := []Load{{}}
	for _, d := range dimensions {
		limits, limited := w.Ranges[string(d.Dimension)]
		if !limited {
			continue
		}
		var next []Load
		for _, l := range loads {
			for _, v := range []float64{limits[0], math.Round((limits[0] + limits[1]) / 2), limits[1]} {
				next = append(next, l.With(d.Dimension, v))
			}
		}
		loads = next
	}
	for i := range loads {
		if len(w.Reads) > 0 {
			loads[i].Reads = w.Reads[0]
		}
		if len(w.Events) > 0 {
			loads[i].Events = w.Events[0]
		}
		loads[i].Priorities = len(w.Priorities) > 0 && w.Priorities[0]
	}
	return loads
}

func TestParseRefusesMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"rules: [{name: a, when: {object: [1, 2]}}]":  "object",
		"rules: [{name: a, when: {objects: [2, 1]}}]": "before",
		"rule: []":       "rule",
		"rules: []\n---": "second",
	} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error about %q", text, err, want)
		}
	}
}
