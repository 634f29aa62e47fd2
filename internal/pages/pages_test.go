package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// runs is a folder with a run of the preset "stores": clientgo takes 100 ns, twice 50 ns.
func runs(t *testing.T) *Source {
	t.Helper()
	dir := t.TempDir()
	r := recordtest.Run(recordtest.Spec{Name: "stores", Forks: 6, Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100}, {Name: "twice", NsPerOp: 50}}})
	folder := filepath.Join(dir, "results", "stores")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := record.WriteRun(folder, r); err != nil {
		t.Fatal(err)
	}
	return NewSource(dir)
}

// get is the name of a number of runs.
const get = "store/store-ops/objects=10/get/"

func TestFillLinks(t *testing.T) {
	t.Parallel()
	s := runs(t)
	for page, want := range map[string]string{
		`It takes [?](../results/stores/report.md "` + get + `twice/ns/op to clientgo").`:      `It takes [0.50x](../results/stores/report.md "` + get + `twice/ns/op to clientgo").`,
		`[0.9x [0.1, 1]](results/stores/report.md "` + get + `twice/ns/op to clientgo") of it`: `[0.50x [`,
		`[1ms](../results/stores/report.md "` + get + `twice/ns/op")`:                          `ns](../results/stores`,
		`[a page](../results/stores/report.md) stays`:                                          `[a page](../results/stores/report.md) stays`,
	} {
		got, err := Fill([]byte(page), s, "../")
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s\nbecomes %s, %v; want %s", page, got, err, want)
		}
		if again, err := Fill(got, s, "../"); err != nil || string(again) != string(got) {
			t.Errorf("filling it again changes it: %s, %v", again, err)
		}
	}
}

func TestFillTables(t *testing.T) {
	t.Parallel()
	const page = `<!-- results
head: operation
columns: {twice: twice, another: another}
rows:
  Get: stores/` + get + `{}/ns/op to clientgo
-->
| an old table |
<!-- end results -->
`
	s := runs(t)
	_, err := Fill([]byte(page), s, "../")
	if err == nil || !strings.Contains(err.Error(), "column another") {
		t.Errorf("a column without numbers: %v", err)
	}
	got, err := Fill([]byte(strings.Replace(page, ", another: another", ", client-go: clientgo", 1)), s, "../")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| operation | twice | client-go |", "| Get | 0.50x [", "[stores](../results/stores/report.md)"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "old table") {
		t.Errorf("the old table is still there:\n%s", got)
	}
}

// A bound is met by a whole interval, missed by a whole interval, or not settled.
func TestBounds(t *testing.T) {
	t.Parallel()
	s := runs(t)
	found, err := s.named("stores/" + get + "twice/ns/op to clientgo")
	if err != nil || found.lo >= found.hi {
		t.Fatalf("%+v, %v", found, err)
	}
	table := func(unit, asked string) string {
		return "<!-- results\ncolumns: {mine: twice}\nrows:\n  Get: stores/" + get + "{}/" + unit + "\nasked: {" + asked + "}\n-->\n<!-- end results -->"
	}
	const ratio = "ns/op to clientgo"
	for page, want := range map[string]string{
		table(ratio, "Get: at most 0.9"):                                    "| at most 0.9 | yes |",
		table(ratio, "Get: at most 0.1"):                                    "| at most 0.1 | no |",
		table(ratio, "Get: at least 0.1"):                                   "| at least 0.1 | yes |",
		table(ratio, "Get: at least 0.9"):                                   "| at least 0.9 | no |",
		table("ns/op", "Get: at most 1ms"):                                  "| at most 1ms | yes |",
		table("ns/op", "Get: at most 1ns"):                                  "| at most 1ns | no |",
		table(ratio, fmt.Sprintf("Get: at most %v", (found.lo+found.hi)/2)): "| not settled |",
	} {
		got, err := Fill([]byte(page), s, "../")
		if err != nil || !strings.Contains(string(got), want) || !strings.Contains(string(got), "|  | mine | asked | met |") {
			t.Errorf("%s\nbecomes %s, %v; want %s", page, got, err, want)
		}
	}
	wantMistakes(t, []mistake{
		{table(ratio, "List: at most 1"), s, "no row has this label"},
		{table(ratio, "Get: under 1"), s, "want \"at most 0.80\""},
		{table(ratio, "Get: at most much"), s, "want \"at most 0.80\""},
		{table(ratio, "Get: at most 1ms"), s, "the number is 0.50x"},
		{table("ns/op", "Get: at most 1"), s, "the number is 50"},
		{strings.Replace(table(ratio, "Get: at most 1"), "{mine: twice}", "{a: twice, b: twice, c: twice, d: twice}", 1), s, "1 to 3 columns"},
	})
}

func TestFillRules(t *testing.T) {
	t.Parallel()
	const rules = `# a comment
prices:
  memory:
    says: "It takes {1x} of client-go's {? [?]}."
    bytes: {own: 1, reference: 2}
    record: results/stores
    numbers:
      - {number: ` + get + `twice/ns/op, to: clientgo}
      - {number: ` + get + `clientgo/ns/op}
`
	got, err := FillRules([]byte(rules), runs(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# a comment\n", "{0.50x} of client-go's {", "ns]}.", "{own: 5", "reference: "} {
		if !strings.Contains(string(got), want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
}

// mistake is a page with a number that cannot be filled, and what the error must say.
type mistake struct {
	page string
	of   *Source
	want string
}

func wantMistakes(t *testing.T, mistakes []mistake) {
	t.Helper()
	for _, m := range mistakes {
		if _, err := Fill([]byte(m.page), m.of, "../"); err == nil || !strings.Contains(err.Error(), m.want) {
			t.Errorf("%s: %v, want an error with %q", m.page, err, m.want)
		}
	}
}

// What make turns prints is read: the geometric mean over the processes, of ratios only.
func TestFillTurns(t *testing.T) {
	t.Parallel()
	write := func(processes int, more string) *Source {
		dir := t.TempDir()
		folder := filepath.Join(dir, "results", inTurns)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		text := "commit: abc\n" + strings.Repeat("BenchmarkStoreInTurns/op=get-8 3 100 ns/op 0.5 bare/clientgo\nBenchmarkStoreInTurns/op=get-8 3 900 ns/op 2 bare/clientgo\nPASS\n", processes/2)
		for name, text := range map[string]string{"store.txt": text, "more.txt": more} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		return NewSource(dir)
	}
	const cited = `[?](../results/in-turns/store.txt "StoreInTurns/op=get/bare to clientgo")`
	got, err := Fill([]byte(cited), write(6, ""), "../")
	if want := `[1.00x](../results/in-turns/store.txt "StoreInTurns/op=get/bare to clientgo")`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	wantMistakes(t, []mistake{
		{cited, write(4, ""), "4 processes, want 6"},
		{cited, write(6, "BenchmarkStoreInTurns/op=get 1 1 bare/clientgo\n"), "both have StoreInTurns/op=get"},
		{cited, write(6, "BenchmarkStoreInTurns/op=get 1 x bare/clientgo\n"), "more.txt:1"},
		{`[?](../results/in-turns/store.txt "StoreInTurns/op=get/bare")`, write(6, ""), "to REFERENCE"},
		{`[?](../results/in-turns/store.txt "StoreInTurns/op=get/none to clientgo")`, write(6, ""), "none"},
	})
}

// What make instruments prints is read: medians over the processes.
func TestFillInstruments(t *testing.T) {
	t.Parallel()
	measured := func(processes int) *Source {
		dir := t.TempDir()
		folder := filepath.Join(dir, "results", instruments)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for i := range processes {
			fmt.Fprintf(&text, "BenchmarkWatch/watchers=1-2 100 %d ns/op 5000 events/s\n", 1000+100*i)
		}
		if err := os.WriteFile(filepath.Join(folder, "apiserver.txt"), []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return NewSource(dir)
	}
	cited := func(name string) string { return `[? [?]](../results/instruments/apiserver.txt "` + name + `")` }
	const table = "<!-- results\ncolumns: {events a second: events/s}\nrows:\n  one: instruments/Watch/watchers=1/{}\n-->\n<!-- end results -->"
	s := measured(6)
	for page, want := range map[string]string{
		cited("Watch/watchers=1/ns/op"):    "[1.25µs [1µs, 1.5µs]](../results/instruments/apiserver.txt",
		cited("Watch/watchers=1/events/s"): "[5,000](../results/instruments/apiserver.txt",
		table:                              "| one | 5,000 |",
		table + "\n":                       "Medians with their intervals, from [benchmarks of the instruments](../results/instruments).",
	} {
		got, err := Fill([]byte(page), s, "../")
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s\nbecomes %s, %v; want %s", page, got, err, want)
		}
	}
	wantMistakes(t, []mistake{
		{cited("Watch/watchers=1/ns/op"), measured(5), "5 processes, want 6: run make instruments"},
		{cited("Watch/watchers=1/ns/op to clientgo"), s, "want NAME/UNIT"},
		{cited("Watch/watchers=2/ns/op"), s, "no such number"},
	})
}

// What upstream/run.sh measured is read: medians with the gate off and on, and their ratio.
func TestFillKit(t *testing.T) {
	t.Parallel()
	measured := func(samples int) *Source {
		dir := t.TempDir()
		folder := filepath.Join(dir, kit, "results", "contention")
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		for name, line := range map[string]string{gateOff: "2000 ns/op 40 p99-ms 0 lists", gateOn: "1000 ns/op 4 p99-ms 1 lists"} {
			text := strings.Repeat("BenchmarkContention/loop=open-2 1 "+line+"\n", samples)
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		return NewSource(dir)
	}
	const table = "<!-- results\ncolumns: {gate off: off, gate on: on, change: on to off}\nrows:\n  p99: upstream/contention/Contention/loop=open/p99-ms/{}\n-->\n<!-- end results -->"
	cited := func(name string) string { return `[?](results/contention/benchstat.txt "` + name + `")` }
	s := measured(6)
	for page, want := range map[string]string{
		cited("Contention/loop=open/ns/op/on"): "[1µs](results/contention/benchstat.txt",
		table:                                  "| p99 | 40ms | 4ms | 0.10x [0.10, 0.10] |",
		table + "\n":                           "Medians and ratios with their intervals, from [contention](../upstream/results/contention/benchstat.txt).",
	} {
		got, err := Fill([]byte(page), s, "../")
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s\nbecomes %s, %v; want %s", page, got, err, want)
		}
	}
	wantMistakes(t, []mistake{
		{cited("Contention/loop=open/ns/op/on"), measured(5), "5 samples, want 6"},
		{cited("Contention/loop=open/ns/op/beside"), s, "want FOLDER/BENCHMARK/UNIT/off"},
		{cited("Contention/loop=open/ns/op/off to on"), s, "want FOLDER/BENCHMARK/UNIT/off"},
		{cited("Contention/loop=closed/ns/op/on"), s, "Contention/loop=closed/ns/op"},
		{cited("on"), s, "no such number"},
	})
}

func TestMistakesAreNamed(t *testing.T) {
	t.Parallel()
	s := runs(t)
	for text, want := range map[string]string{
		`[?](../results/stores/report.md "store/nowhere/get/twice/ns/op")`:                      "store/nowhere",
		`[?](../results/stores/report.md "` + get + `twice/ns/op to another")`:                  "another",
		`[?](../results/store/report.md "` + get + `twice/ns/op")`:                              "no run.json",
		"<!-- results\ncolumns: {a: b}\nrow: {}\n-->\n<!-- end results -->":                     "row",
		"<!-- results\ncolumns: {}\nrows: {a: b}\n-->\n<!-- end results -->":                    "1 to 5 columns",
		"<!-- results\ncolumns: {a: twice}\nrows:\n  a: stores/x/{}\n-->\n<!-- end results -->": "row a",
	} {
		if _, err := Fill([]byte(text), s, "../"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error that names %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"says: \"{1x}\"\nrecord: results/stores\n":        "1 numbers in braces, 0 names",
		"says: \"a\"\nrecord: results/stores\n":           "no number of it",
		"says: \"{1x}\"\nnumbers: [{number: a, to: b}]\n": "no record",
	} {
		if _, err := FillRules([]byte(text), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error that names %q", text, err, want)
		}
	}
}

func TestBareFindsNumbersOfNoRun(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]bool{
		"client-go takes 3 ms":  true,
		"0.97x of it":           true,
		"99.9 percent are done": true,
		"12 % more":             true,
		"1.5µs":                 true,
		"at `10ms` each":        false,
		"100,000 pods":          false,
		"a block of 8 KiB":      false,
		"```\n3 ms\n```":        false,
		`[3ms](../results/stores/report.md "` + get + `twice/ns/op")`: false,
		"<!-- results\nrows: {}\n-->\n| 3ms |\n<!-- end results -->":  false,
		"[a link](page.md#3-ms)": false,
	} {
		if got := len(Bare([]byte(page))) > 0; got != want {
			t.Errorf("%s: found %v, want %v", page, got, want)
		}
	}
}
