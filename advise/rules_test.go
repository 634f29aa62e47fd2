package advise

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/catalog"
	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
)

// root is the repository.
const root = ".."

// everyEvidence calls f for all statements of the table.
func everyEvidence(t *Table, f func(where string, e Evidence)) {
	for name, e := range t.Prices {
		f("price "+name, e)
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

func TestRulesNameTheCatalog(t *testing.T) {
	t.Parallel()
	table := Rules()
	names, usedPrices, usedLines := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range table.Rules {
		if names[r.Name] {
			t.Errorf("rule %s is there twice", r.Name)
		}
		names[r.Name] = true
		if !strings.HasPrefix(r.Name, string(r.Component)+"-") || r.What == "" || len(r.Because) == 0 || len(r.Price) == 0 {
			t.Errorf("rule %s lacks its component in front, a description, a reason or a price", r.Name)
		}
		e, err := catalog.Lookup(r.Component, r.Use)
		if err != nil || e.Study {
			t.Errorf("rule %s recommends %q: study %v, %v", r.Name, r.Use, e.Study, err)
		}
		key := string(r.Component) + "/" + r.Use
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
		if e.Section != "" && !regexp.MustCompile(`(?m)^#+ `+regexp.QuoteMeta(e.Section)+`$`).Match(page) {
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
		_, err := os.Stat(filepath.Join(root, strings.TrimPrefix(words[2], "github.com/informerbench/informerbench/")))
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
	if words[1] == "run" && !slices.ContainsFunc(ofPreset, func(w load.Workload) bool { return w.Component == c }) {
		return fmt.Errorf("preset %s measures no %s", flags["--preset"], c)
	}
	return nil
}

var marked = regexp.MustCompile(`\{([^}]*)\}`)

// Every number in braces is that of its record.
func TestNumbersAreThoseOfTheRecords(t *testing.T) {
	t.Parallel()
	runs := map[string]*record.Run{}
	everyEvidence(Rules(), func(where string, e Evidence) {
		found := marked.FindAllStringSubmatch(e.Says, -1)
		if len(found) != len(e.Numbers) {
			t.Errorf("%s: %d numbers in braces, %d names", where, len(found), len(e.Numbers))
			return
		}
		if e.Record == "" {
			if len(found) > 0 {
				t.Errorf("%s: numbers in braces and no record", where)
			}
			return
		}
		if len(found) == 0 {
			t.Errorf("%s: a record and no number of it", where)
		}
		r, read := runs[e.Record]
		if !read {
			var err error
			if r, err = record.ReadRun(filepath.Join(root, e.Record)); err != nil {
				t.Errorf("%s: %v", where, err)
			}
			runs[e.Record] = r
		}
		if r == nil {
			return
		}
		for i, n := range e.Numbers {
			if err := sameNumber(found[i][1], r, n); err != nil {
				t.Errorf("%s: {%s}: %v", where, found[i][1], err)
			}
		}
	})
	for name, p := range Rules().Prices {
		if p.Bytes == nil {
			continue
		}
		found := marked.FindAllStringSubmatch(p.Says, -1)
		for i, want := range []float64{p.Bytes.Own, p.Bytes.Reference} {
			if got, err := parseNumber(found[i][1]); err != nil || got.is != want {
				t.Errorf("price %s: bytes %v, the text says %v (%v)", name, want, got.is, err)
			}
		}
	}
}

// A wrong number would be found.
func TestWrongNumbersAreFound(t *testing.T) {
	t.Parallel()
	r, err := record.ReadRun(filepath.Join(root, "results/20261122-stores-scaling"))
	if err != nil {
		t.Fatal(err)
	}
	value := Number{Number: "store/stores-scaling/objects=10000/get/lockfree/ns/op"}
	ratio := Number{Number: value.Number, To: "clientgo"}
	for _, c := range []struct {
		text string
		of   Number
		want string
	}{
		{"1.22x [1.16, 1.28]", ratio, ""},
		{"1.32x [1.16, 1.28]", ratio, "1.218"},
		{"1.22x [1.06, 1.28]", ratio, "1.159"},
		{"1.22x", ratio, "interval"},
		{"26.9ns [25.9, 27.8]", value, ""},
		{"26.9µs [25.9, 27.8]", value, "26.88"},
		{"1.22x [1.16, 1.28]", value, "ratio"},
		{"26.9ns [25.9, 27.8]", Number{Number: "store/nowhere/get/lockfree/ns/op"}, "no such number"},
		{"quick", value, "not a number"},
	} {
		err := sameNumber(c.text, r, c.of)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// claimed is a number of a text, in the metric's unit.
type claimed struct {
	is, lo, hi float64
	interval   bool
	ratio      bool
	rounding   [3]float64 // half of the last digit
}

var numberPattern = regexp.MustCompile(`^([\d.,]+) ?(%|x|ns|µs|ms|s|B)?(?: \[([\d.,]+), ([\d.,]+)\])?$`)

func parseNumber(text string) (claimed, error) {
	m := numberPattern.FindStringSubmatch(text)
	if m == nil {
		return claimed{}, fmt.Errorf("not a number such as 1.22x [1.16, 1.28]")
	}
	unit := map[string]float64{"µs": 1e3, "ms": 1e6, "s": 1e9}[m[2]]
	if unit == 0 {
		unit = 1
	}
	c := claimed{ratio: m[2] == "x", interval: m[3] != ""}
	for i, digits := range []string{m[1], m[3], m[4]} {
		if digits == "" {
			continue
		}
		digits = strings.ReplaceAll(digits, ",", "")
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return claimed{}, err
		}
		decimals := 0
		if _, after, has := strings.Cut(digits, "."); has {
			decimals = len(after)
		}
		*[]*float64{&c.is, &c.lo, &c.hi}[i] = v * unit
		c.rounding[i] = 0.51 * unit * math.Pow(10, -float64(decimals))
	}
	return c, nil
}

// sameNumber compares a number of a text with that of the record, to the digits that the text
// has.
func sameNumber(text string, r *record.Run, n Number) error {
	said, err := parseNumber(text)
	if err != nil {
		return err
	}
	if said.ratio != (n.To != "") {
		return fmt.Errorf("a ratio has an x and the name of what it is a ratio to, and nothing else has")
	}
	is, lo, hi, err := measured(r, n)
	if err != nil {
		return err
	}
	if lo != hi && !said.interval {
		return fmt.Errorf("the interval is missing: [%.3g, %.3g]", lo, hi)
	}
	if !said.interval {
		lo, hi = 0, 0
	}
	for i, pair := range [][2]float64{{said.is, is}, {said.lo, lo}, {said.hi, hi}} {
		if math.Abs(pair[0]-pair[1]) > said.rounding[i] {
			return fmt.Errorf("the record says %.4g [%.4g, %.4g]", is, lo, hi)
		}
	}
	return nil
}

// measured looks a number up: the median and its interval, or a ratio.
func measured(r *record.Run, n Number) (is, lo, hi float64, err error) {
	found, err := compare.Lookup(r, n.Number)
	if err != nil {
		return 0, 0, 0, err
	}
	if n.To == "" {
		e := found.Estimate()
		return e.Median, e.Lo, e.Hi, nil
	}
	ratio, err := found.RatioTo(n.To)
	return ratio.Estimate, ratio.Lo, ratio.Hi, err
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
