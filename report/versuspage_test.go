package report

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/measure/stats"
)

// pairOf is a pair of runs in which head is half as fast in one implementation and twice as
// fast in another; a third is the same.
func pairOf(t *testing.T, gates ...string) *compare.Result {
	t.Helper()
	base, head := pairRuns()
	return judged(t, base, head, gates...)
}

// pairRuns are the runs of pairOf.
func pairRuns() (base, head *record.Run) {
	spec := recordtest.Spec{Name: "pair/base", Forks: 8, Seed: 1,
		Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 100}, {Name: "slowed", NsPerOp: 100},
			{Name: "sped", NsPerOp: 100}, {Name: "alike", NsPerOp: 100}}}
	base = recordtest.Run(spec)
	spec.Name, spec.Seed = "pair/head", 2
	spec.Base = map[string]float64{"reference": 100, "slowed": 100, "sped": 100, "alike": 100}
	spec.Impls = []recordtest.Impl{{Name: "reference", NsPerOp: 100}, {Name: "slowed", NsPerOp: 200},
		{Name: "sped", NsPerOp: 50}, {Name: "alike", NsPerOp: 100}}
	head = recordtest.Run(spec)
	base.Settings.Pair = true
	for _, r := range []*record.Run{base, head} {
		r.Command = []string{"benchrun", "pair", "--base", "/tmp/old", "--impl", "*", "--gate",
			"x <= +5%", "--budget", "10m", "-o", "out"}
	}
	return base, head
}

// measuredOf adds profiles and delays of the writer to a run. The delays lie between 1 and
// 1+most microseconds.
func measuredOf(t *testing.T, r *record.Run, most int) *Measured {
	t.Helper()
	dir := t.TempDir()
	err := recordtest.AddHistogram(r, "writer:update", metrics.Delay, 10_000,
		func(_, i int) time.Duration {
			return time.Microsecond + time.Duration(i*most)*time.Microsecond/10_000
		})
	if err := errors.Join(err, recordtest.AddProfiles(dir, r, storeStacks)); err != nil {
		t.Fatal(err)
	}
	profiles, warnings := ReadProfiles(folder(t, dir), r)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	return &Measured{r, profiles, "results/" + r.Name}
}

func judged(t *testing.T, base, head *record.Run, gates ...string) *compare.Result {
	t.Helper()
	r, err := compare.Runs(base, head, true)
	if err != nil {
		t.Fatal(err)
	}
	var parsed []compare.Gate
	for _, text := range gates {
		g, err := compare.ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, g)
	}
	if err := r.Judge(parsed); err != nil {
		t.Fatal(err)
	}
	return r
}

func versusPageOf(t *testing.T, r *compare.Result) string {
	t.Helper()
	return versusPageOfRuns(t, r, nil, nil)
}

func versusPageOfRuns(t *testing.T, r *compare.Result, base, head *Measured) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteVersusPage(&out, r, base, head); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// shownIn is the text of the element with an id, with single spaces.
func shownIn(t *testing.T, page, id string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if !slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
			return a.Key == "id" && a.Val == id
		}) {
			continue
		}
		var text []string
		for d := range n.Descendants() {
			if d.Type == html.TextNode {
				text = append(text, strings.Fields(d.Data)...)
			}
		}
		return strings.Join(text, " ")
	}
	t.Fatalf("the page has no element %q", id)
	return ""
}

// The first screen says what became worse before what became better, and how much is open.
func TestVersusPageSaysWhatChangedFirst(t *testing.T) {
	t.Parallel()
	page := versusPageOf(t, pairOf(t))
	outcome, changes := shownIn(t, page, "outcome"), shownIn(t, page, "changes")
	if !strings.Contains(outcome, "regression: store/store-ops/objects=10/get/slowed/ns/op") {
		t.Errorf("the outcome does not name the regression: %s", outcome)
	}
	worse, better := strings.Index(changes, "get: ns/op slowed store-ops/objects=10 2.00x ["),
		strings.Index(changes, "get: ns/op sped store-ops/objects=10 0.50x [")
	if worse < 0 || better < worse || strings.Contains(changes, "alike") {
		t.Errorf("the changes are not the two, worse first: %s", changes)
	}
	for _, want := range []string{"3 worse", "2 better", "of 12 comparisons", "in turns"} {
		if !strings.Contains(outcome, want) {
			t.Errorf("the first screen lacks %q: %s", want, outcome)
		}
	}
	row := shownIn(t, page, "store-store-ops-objects-10-get-slowed-ns-op")
	for _, want := range []string{"get: ns/op", "store-ops/objects=10", "slowed", "2x [", "worse",
		"noise ±", "base 1", "head 2",
		"benchrun pair --base /tmp/old --budget 10m --component store --impl reference,slowed"} {
		if !strings.Contains(row, want) {
			t.Errorf("the row lacks %q: %s", want, row)
		}
	}
	if strings.Contains(row, "--gate") || strings.Contains(row, "-o out") {
		t.Errorf("the command writes where the run is, or has gates that may match nothing: %s", row)
	}
	var verdicts []string
	for line := range strings.Lines(page) {
		if _, rest, ok := strings.Cut(line, ` data-verdict="`); ok {
			verdict, _, _ := strings.Cut(rest, `"`)
			verdicts = append(verdicts, verdict)
		}
	}
	if !slices.IsSortedFunc(verdicts, func(a, b string) int {
		return slices.Index(versusOrder, stats.Verdict(a)) - slices.Index(versusOrder, stats.Verdict(b))
	}) || len(verdicts) != 12 {
		t.Errorf("the rows come as %v", verdicts)
	}
}

// Gates come first, those that fail before those that hold, with how many numbers each has.
func TestVersusPageShowsGatesFirst(t *testing.T) {
	t.Parallel()
	page := versusPageOf(
		t, pairOf(t, "store/*/get/alike/ns/op <= +50%", "store/*/get/*/ns/op <= +20%"))
	gates := shownIn(t, page, "gates")
	failed, held := strings.Index(gates,
		"regression store/*/get/*/ns/op <= +20% 1 regression, 2 pass"),
		strings.Index(gates, "pass store/*/get/alike/ns/op <= +50% 1 pass")
	if failed < 0 || held < failed {
		t.Errorf("the gates do not begin with what failed: %s", gates)
	}
	if strings.Index(page, `id="gates"`) > strings.Index(page, `id="changes"`) {
		t.Error("the changes come before the gates")
	}
	if strings.Contains(versusPageOf(t, pairOf(t)), `id="gates"`) {
		t.Error("without gates the page has a card of them")
	}
}

// Each row has the processes of both runs as dots, and leads to both runs' delays and flame
// graphs, each over the other.
func TestVersusPageShowsWhatARowRestsOn(t *testing.T) {
	t.Parallel()
	base, head := pairRuns()
	page := versusPageOfRuns(t, judged(t, base, head), measuredOf(t, base, 10),
		measuredOf(t, head, 1000))
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	row := byID(root, "store-store-ops-objects-10-writer-update-slowed-delay-p99-ns")
	if row == nil {
		t.Fatal("no row of the writer's delay")
	}
	dots := 0
	for n := range row.Descendants() {
		if n.Data == "circle" && attribute(n.Parent, "class") == "dots" {
			dots++
		}
	}
	if text := textWithin(row); dots != 16 || !strings.Contains(text, "Each dot is a process; from ") {
		t.Errorf("%d dots for the 8 processes of each run: %s", dots, text)
	}
	places := linksFrom(root, row)
	for _, want := range [][]string{
		{"slowed, store-ops/objects=10, writer:update: delay", "run", "base", "11", "head", "1ms"},
		{"base", "in slowed, store-ops/objects=10", "100 samples",
			"go tool pprof -http=: " +
				"results/pair/base/profiles/store_store-ops_objects-10_slowed_p2/cpu.pb.gz"},
		{"head", "against base", "-diff_base=results/pair/base/profiles/store_store-ops_objects-10_slowed_p2/cpu.pb.gz", " results/pair/head/profiles/store_store-ops_objects-10_slowed_p2/cpu.pb.gz"},
	} {
		if !slices.ContainsFunc(places, func(place string) bool {
			return !slices.ContainsFunc(want, func(text string) bool {
				return !strings.Contains(strings.ReplaceAll(place, "'", ""), text)
			})
		}) {
			t.Errorf("no link of the row leads to %q, but to %q", want, places)
		}
	}
	data := decode(t, textWithin(byID(root, "flame-data")))
	if len(data.Cells) != 8 || data.Cells[0].Against != -1 || data.Cells[1].Against != 0 ||
		data.Cells[1].Label != "head" {
		t.Errorf("%d cells, the first %+v and %+v; want base and head of four implementations",
			len(data.Cells), data.Cells[0], data.Cells[1])
	}
	if first := strings.Index(page, "slowed, store-ops/objects=10, writer:update: delay"); first < 0 ||
		first > strings.Index(page, "sped, store-ops/objects=10, writer:update: delay") {
		t.Error("the pictures do not begin with what became worse")
	}
	if strings.Contains(page, "--profile") {
		t.Error("the page says how to take the profiles that it has")
	}
	if without := versusPageOfRuns(t, judged(t, base, head), &Measured{Run: base},
		&Measured{Run: head}); !strings.Contains(shownIn(t, without, "trust"), "--profile") ||
		strings.Contains(without, `id="profiles"`) {
		t.Error("without profiles the page does not say how to take them, or has their section")
	}
}

// Each link leads to an element of the page, and no id stands twice; elements finds
// references to elsewhere.
func TestVersusPageLinksResolve(t *testing.T) {
	t.Parallel()
	base, head := pairRuns()
	page := versusPageOfRuns(t, judged(t, base, head, "store/*/ns/op <= +20%"),
		measuredOf(t, base, 10), measuredOf(t, head, 10))
	elements(t, page)
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	ids, links := map[string]int{}, []string{}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			switch a.Key {
			case "id":
				ids[a.Val]++
			case "href":
				links = append(links, strings.TrimPrefix(a.Val, "#"))
			}
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d elements have the id %s", n, id)
		}
	}
	for _, l := range links {
		if ids[l] == 0 {
			t.Errorf("a link leads to %q, which is nowhere", l)
		}
	}
	if len(links) < 20 {
		t.Errorf("%d links", len(links))
	}
}

// Two files have no component, no commands and no noise floor.
func TestVersusPageOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, ns := range map[string]int{"base.txt": 100, "head.txt": 200} {
		if err := os.WriteFile(filepath.Join(dir, name),
			[]byte(strings.Repeat(fmt.Sprintf("BenchmarkX 1 %d ns/op\n", ns), 6)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := compare.Files(filepath.Join(dir, "base.txt"), filepath.Join(dir, "head.txt"),
		stats.DefaultRule)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Judge(nil); err != nil {
		t.Fatal(err)
	}
	page := versusPageOf(t, r)
	if text := shownIn(t, page, "results"); !strings.Contains(text, "Each dot is a line of the file") {
		t.Errorf("the results of files show no lines: %s", text)
	}
	if text := shownIn(t, page, "results"); !strings.Contains(text, "benchmarks") ||
		!strings.Contains(text, "worse") || strings.Contains(text, "component") {
		t.Errorf("the results of files: %s", text)
	}
	if text := shownIn(t, page, "trust"); !strings.Contains(text, "not known") {
		t.Errorf("the noise of files: %s", text)
	}
}

// Nothing in a run adds an element, attribute, reference or control character to the page.
func TestHostileStringsStayTextOnTheVersusPage(t *testing.T) {
	t.Parallel()
	r := pairOf(t, "store/*/ns/op <= +5%")
	r.Warnings, r.Left, r.BaseFrom.Revision = []string{"warning"}, []string{"left"}, "revision"
	r.Comparisons[0].Warnings, r.Comparisons[0].Base.Warnings = []string{"of the ratio"},
		[]string{"of base"}
	base, head := pairRuns()
	of := []*Measured{measuredOf(t, base, 10), measuredOf(t, head, 10)}
	page := func(name string) string {
		hostile := func(field, text string) string {
			// These decide what is shown; a series of both must have one name.
			if slices.Contains([]string{"Metric", "Verdict", "Outcome", "Histograms", "Role", "Group"},
				field) {
				return text
			}
			return text + name
		}
		var sides []*Measured
		for _, m := range of {
			sides = append(sides, &Measured{mapped(m.Run, hostile), m.Profiles, m.Dir + name})
		}
		return versusPageOfRuns(t, mapped(r, hostile), sides[0], sides[1])
	}
	want := elements(t, page("harmless"))
	for _, h := range hostile {
		got := page(h)
		if e := elements(t, got); !maps.Equal(e, want) {
			t.Errorf("%q: other elements: %s", h, changed(want, e))
		}
		plainText(t, fmt.Sprintf("%q", h), got)
	}
	if _, ok := found(t, page("harmless"))["meta content "+policy()]; !ok {
		t.Error("the page lacks its policy")
	}
	for _, want := range []string{`id="latency"`, `id="flame-data"`, "of the ratio"} {
		if !strings.Contains(page("harmless"), want) {
			t.Errorf("the page lacks %s, so nothing is tried there", want)
		}
	}
}
