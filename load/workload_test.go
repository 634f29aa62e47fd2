package load

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
)

const validYAML = `name: mine
component: store
objects:
  count: 1000
groups:
  - name: writer
    op: update
    goroutines: 1
    rate: 5000
  - name: listers
    op: list
    goroutines: 4
duration: 3s
`

func TestParseFillsInDefaults(t *testing.T) {
	t.Parallel()
	w, err := ParseWorkload("mine.yaml", []byte(validYAML))
	if err != nil {
		t.Fatal(err)
	}
	want := Workload{
		Name: "mine", Component: contract.ComponentStore,
		Objects: synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 1000}, Index: synthetic.IndexNode,
		Groups: []Group{
			{Name: "writer", Op: OpUpdate, Goroutines: 1, Rate: 5000, Batch: 1},
			{Name: "listers", Op: OpList, Goroutines: 4, Batch: 1},
		},
		Duration: 3 * time.Second, Seed: DefaultSeed,
	}
	if !reflect.DeepEqual(w, want) {
		t.Errorf("got  %+v\nwant %+v", w, want)
	}
}

// TestParseErrors gives a valid file one or more mistakes: each must be named by
// its line, its path and what is allowed, and nothing else may be.
func TestParseErrors(t *testing.T) {
	t.Parallel()
	const tail = "\ngroups:\n  - {name: a, op: list, goroutines: 1}\n"
	for _, c := range []struct {
		name, yaml string
		want       []string // each a line of the error, in order; "..." stands for any text
	}{
		{"empty", "", []string{"f.yaml:1: the file is empty..."}},
		{"syntax", "name: x\n\tobjects: {}", []string{"f.yaml:2: a tab indents the line: use spaces"}},
		{"syntax with a tab elsewhere", "name: x # a\tb\nops: [", []string{"f.yaml:2: no YAML:..."}},
		{"objects is a number", strings.Replace(validYAML, "objects:\n  count: 1000", "objects: 5", 1),
			[]string{"f.yaml:3: objects: these are no fields: use kind, count, ..."}},
		{"scalar", "hello", []string{"f.yaml:1: these are no fields: use name, source,..."}},
		{"two documents", validYAML + "---\nname: b\n",
			[]string{"f.yaml:14: a second document begins here..."}},
		{"unknown field", strings.Replace(validYAML, "rate:", "speed:", 1),
			[]string{"f.yaml:9: groups[0].speed: unknown field: use one of name, op, goroutines, rate, ..."}},
		{"field twice", validYAML + "name: again\n",
			[]string{"f.yaml:14: name: the field stands there twice..."}},
		{"alias", "name: &x abc\ncomponent: store\nobjects: {count: 1}" + tail,
			[]string{"f.yaml:1: name: anchors and aliases are not read..."}},
		{"negative rate", strings.Replace(validYAML, "5000", "-1", 1),
			[]string{"f.yaml:9: groups[0].rate: -1 is out of range: use 0.001 to 100000000 operations a " +
				"second, or 0 for a closed loop"}},
		{"a rate without an interval", strings.Replace(validYAML, "5000", "2e9", 1),
			[]string{"f.yaml:9: groups[0].rate: 2e+09 is out of range..."}},
		{"a rate beyond all time", strings.Replace(validYAML, "5000", "1e-10", 1),
			[]string{"f.yaml:9: groups[0].rate: 1e-10 is out of range..."}},
		{"rate is not a number", strings.Replace(validYAML, "5000", ".nan", 1),
			[]string{"f.yaml:9: groups[0].rate: NaN is out of range..."}},
		{"zero objects", strings.Replace(validYAML, "1000", "0", 1),
			[]string{"f.yaml:4: objects.count: 0 is out of range: use 1 to 50000000"}},
		{"no objects", "name: x\ncomponent: store" + tail,
			[]string{"f.yaml:1: objects.count: 0 is out of range..."}},
		{"count in words", strings.Replace(validYAML, "1000", "many", 1),
			[]string{`f.yaml:4: objects.count: "many" does not fit: use a whole number`}},
		{"unknown operation", strings.Replace(validYAML, "op: list", "op: lst", 1),
			[]string{`f.yaml:11: groups[1].op: unknown operation "lst" of a store: use one of get, list, list-keys, by-index, index, index-keys, update, update-index, add-delete, replace, transaction`}},
		{"unknown component", strings.Replace(validYAML, "store", "cache", 1),
			[]string{`f.yaml:2: component: unknown component "cache": use one of store, fifo, delay, queue, informer, objects`}},
		{"limiter is not measured", strings.Replace(validYAML, "store", "limiter", 1),
			[]string{`f.yaml:2: component: unknown component "limiter"...`}},
		{"bad duration", strings.Replace(validYAML, "3s", "3", 1),
			[]string{`f.yaml:13: duration: "3" is no duration: use a number with a unit, such as 300ms, 3s or 1m30s`}},
		{"a batch that fills the memory",
			strings.Replace(validYAML, "op: update", "op: transaction\n    batch: 50000000", 1),
			[]string{"f.yaml:8: groups[0].batch: 50000000 is out of range: use 1 to 1000000"}},
		{"negative goroutines", strings.Replace(validYAML, "goroutines: 4", "goroutines: -4", 1),
			[]string{"f.yaml:12: groups[1].goroutines: -4 is out of range: use 0 to 100000"}},
		{"duplicate group", strings.Replace(validYAML, "listers", "writer", 1),
			[]string{`f.yaml:10: groups[1].name: there are two groups "writer"...`}},
		{"nothing to do", "name: x\ncomponent: store\nobjects: {count: 1}\n",
			[]string{"f.yaml:1: nothing to measure: use ops, groups or both"}},
		{"bad name", strings.Replace(validYAML, "mine", "My Load", 1),
			[]string{`f.yaml:1: name: "My Load" is no name...`}},
		{"op that needs others", "name: x\ncomponent: queue\nobjects: {count: 1}\nops: [add-after, " +
			"get-done]\n", []string{"f.yaml:4: ops[1]: get-done needs other actors beside it..."}},
		{"op twice", "name: x\ncomponent: fifo\nobjects: {count: 1}\nops: [resync, resync]\n",
			[]string{"f.yaml:4: ops[1]: resync stands there twice..."}},
		{"parallel without ops", validYAML + "parallel: [0]\n",
			[]string{"f.yaml:14: parallel: there are no ops...",
				"f.yaml:14: parallel[0]: 0 is out of range..."}},
		{"fifo without consumer", "name: x\ncomponent: fifo\nobjects: {count: 1}\ngroups:\n - {name: " +
			"a, op: add, goroutines: 1}\n", []string{"f.yaml:4: groups: nothing pops what is added..."}},
		{"fifo whose consumer is left out",
			"name: x\ncomponent: fifo\nobjects: {count: 1}\ngroups:\n - {name: a, op: add, goroutines: " +
				"1}\n - {name: b, op: pop, goroutines: 0}\n",
			[]string{"f.yaml:4: groups: nothing pops what is added..."}},
		{"informer whose handlers are left out",
			informerYAML + " - {name: a, op: update, goroutines: 1}\n - {name: b, op: handle, " +
				"goroutines: 0}\n", []string{
				"f.yaml:4: groups: a closed loop's updates go at the pace of the first handler, and there " +
					"is none..."}},
		{"fifo without producer", "name: x\ncomponent: fifo\nobjects: {count: 1}\ngroups:\n - {name: " +
			"a, op: pop, goroutines: 1}\n", []string{"f.yaml:4: groups: nothing adds what is popped..."}},
		{"two consumers", "name: x\ncomponent: fifo\nobjects: {count: 1}\ngroups:\n - {name: a, op: " +
			"add, goroutines: 1}\n - {name: b, op: pop, goroutines: 2}\n",
			[]string{"f.yaml:6: groups[1].goroutines: a FIFO has one consumer..."}},
		{"fifo consumer with a rate",
			"name: x\ncomponent: fifo\nobjects: {count: 1}\ngroups:\n - {name: a, op: add, goroutines: " +
				"1}\n - {name: b, op: pop, goroutines: 1, rate: 5}\n",
			[]string{`f.yaml:6: groups[1].rate: the consumers of group "b" take what is there, at no rate of their own: use it with the group that adds or writes, or work for how long an item takes`}},
		{"worker with a rate", "name: x\ncomponent: queue\nobjects: {count: 1}\ngroups:\n - {name: a, " +
			"op: get-done, goroutines: 1, rate: 5}\n",
			[]string{`f.yaml:5: groups[0].rate: the consumers of group "a" take what is there...`}},
		{"popper with a rate", "name: x\ncomponent: delay\nobjects: {count: 1}\ngroups:\n - {name: a, " +
			"op: pop, goroutines: 1, rate: 5}\n",
			[]string{`f.yaml:5: groups[0].rate: the consumers of group "a" take what is there...`}},
		{"sweep of a consumer's rate",
			"name: x\ncomponent: queue\nobjects: {count: 1}\ngroups:\n - {name: a, op: get-done, " +
				"goroutines: 1}\nsweep: {vary: a.rate, values: [5]}\n",
			[]string{`f.yaml:6: sweep.vary: cannot vary "a.rate": use one of objects, procs, waiting, a.goroutines, a.batch`}},
		{"fields of other ops", "name: x\ncomponent: store\nobjects: {count: 9}\ngroups:\n - {name: " +
			"a, op: list, goroutines: 1, batch: 2, work: 1ms, requeue: true, ahead: 1s, index: node}\n",
			[]string{
				"f.yaml:5: groups[0].batch: list does not take a batch: use it with op transaction, pop",
				"f.yaml:5: groups[0].work: list does not handle items: use it with op pop, get-done, handle",
				"f.yaml:5: groups[0].requeue: list does not put items back...",
				"f.yaml:5: groups[0].ahead: list does not give a ready time...",
				"f.yaml:5: groups[0].index: list reads no index...",
			}},
		{"informer without handler", informerYAML + " - {name: a, op: update, goroutines: 1}\n",
			[]string{"f.yaml:4: groups: a closed loop's updates go at the pace of the first handler, and " +
				"there is none: use a group with op handle beside it, or a rate"}},
		{"informer without events", informerYAML + " - {name: a, op: handle, goroutines: 1, rate: 5}\n",
			[]string{`f.yaml:5: groups[0].rate: the consumers of group "a" take what is there...`,
				"f.yaml:4: groups: nothing sends what is handled..."}},
		{"relist beside a writer", informerYAML +
			" - {name: a, op: relist, goroutines: 2}\n - {name: b, op: update, goroutines: 1, rate: 5}\n",
			[]string{"f.yaml:5: groups[0].goroutines: an informer lists again one time after the other...",
				"f.yaml:4: groups: a relist has an informer and a handler of its own..."}},
		{"faults of an informer", informerYAML +
			" - {name: a, op: update, goroutines: 1, rate: 5}\nfaults: [{kind: gone}]\n",
			[]string{"f.yaml:6: faults: an informer is measured over a source without faults..."}},
		{"unknown index", validYAML + "index: label\n",
			[]string{`f.yaml:14: index: unknown index "label": use one of namespace, node`}},
		{"keys in a store", strings.Replace(validYAML, "count: 1000", "count: 1000\n  kind: key", 1),
			[]string{`f.yaml:5: objects.kind: a store has no objects of kind "key": use one of pod, node, small`}},
		{"nodes are not on nodes", strings.NewReplacer("count: 1000", "count: 1000\n  kind: node",
			"op: update", "op: update-index").Replace(validYAML),
			[]string{"f.yaml:8: groups[0].op: update-index needs pods..."}},
		{"waiting in a store", validYAML + "waiting: 5\n",
			[]string{"f.yaml:14: waiting: nothing waits in a store..."}},
		{"faults of a queue", "name: x\ncomponent: queue\nobjects: {count: 1}\nops: " +
			"[add-after]\nfaults: [{kind: gone}]\n",
			[]string{"f.yaml:5: faults: no list/watch source feeds a queue..."}},
		{"faults of ops", "name: x\ncomponent: store\nobjects: {count: 1}\nops: [get]\nfaults: " +
			"[{kind: gone}]\n", []string{"f.yaml:5: faults: operations measured alone..."}},
		{"pop of an empty heap", "name: x\ncomponent: delay\nobjects: {count: 1}\nops: [add, pop, " +
			"mixed]\n", []string{"f.yaml:4: ops[1]: pop finds nothing...",
			"f.yaml:4: ops[2]: mixed finds nothing..."}},
		{"unknown fault", validYAML + "faults:\n- {kind: meteor}\n",
			[]string{`f.yaml:15: faults[0].kind: unknown fault "meteor": use one of gone, close, error, ...`}},
		{"delay without a delay", validYAML + "faults:\n- {kind: delay}\n",
			[]string{"f.yaml:15: faults[0].delay: a delay fault with a delay of 0s..."}},
		{"fault by both clocks", validYAML + "faults:\n- {kind: close, after: 1s, every_events: 2}\n",
			[]string{"f.yaml:15: faults[0].kind: the fault counts both events and time..."}},
		{"sweep of nothing", validYAML + "sweep: {vary: readers.goroutines, values: []}\n", []string{
			`f.yaml:14: sweep.vary: cannot vary "readers.goroutines": use one of objects, procs, writer.goroutines, writer.rate, writer.batch, listers.goroutines, ...`,
			"f.yaml:14: sweep.values: there are no values..."}},
		{"sweep of no processors", validYAML + "sweep:\n  vary: procs\n  values: [1, 0, 5000]\n",
			[]string{"f.yaml:16: sweep.values[1]: 0 is out of range: use 1 to 1024",
				"f.yaml:16: sweep.values[2]: 5000 is out of range..."}},
		{"sweep of what does not wait", validYAML + "sweep: {vary: waiting, values: [1]}\n",
			[]string{`f.yaml:14: sweep.vary: cannot vary "waiting"...`}},
		{"sweep values", validYAML + "sweep: {vary: objects, values: [0, 5, 5]}\n",
			[]string{"f.yaml:14: sweep.values[0]: 0 is out of range...",
				"f.yaml:14: sweep.values[2]: 5 stands there twice..."}},
		{"several at once", "name: x\ncomponent: store\nobjects: {count: 0, color: red}\ngroups:\n  - " +
			"{name: a, op: lst, goroutines: -1}\n", []string{
			"f.yaml:3: objects.color: unknown field...", "f.yaml:3: objects.count: 0 is out of range...",
			"f.yaml:5: groups[0].goroutines: -1 is out of range...",
			`f.yaml:5: groups[0].op: unknown operation "lst"...`,
			"f.yaml:4: groups: all groups have 0 goroutines...",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseWorkload("f.yaml", []byte(c.yaml))
			var fields FieldErrors
			if !errors.As(err, &fields) {
				t.Fatalf("got %v, want FieldErrors", err)
			}
			got := strings.Split(err.Error(), "\n")
			missing := append([]string(nil), c.want...)
		lines:
			for _, line := range got {
				for i, want := range missing {
					if prefix, open := strings.CutSuffix(want, "..."); line == want || open &&
						strings.HasPrefix(line, prefix) {
						missing = append(missing[:i], missing[i+1:]...)
						continue lines
					}
				}
				t.Errorf("not expected: %s", line)
			}
			for _, want := range missing {
				t.Errorf("not said: %s", want)
			}
			last := 0
			for _, f := range fields {
				if f.Line < last {
					t.Errorf("line %d comes after line %d", f.Line, last)
				}
				last = f.Line
			}
		})
	}
}

// informerYAML is to be followed by groups.
const informerYAML = "name: x\ncomponent: informer\nobjects: {count: 9}\ngroups:\n"

func TestReadWorkload(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "w.yaml")
	if _, err := ReadWorkload(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there gave %v", err)
	}
	if err := os.WriteFile(path, []byte("nme: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadWorkload(path); err == nil || !strings.HasPrefix(err.Error(), path+":1: ") {
		t.Errorf("the error does not begin with file and line: %v", err)
	}
}

func roundTrip(t *testing.T, w Workload) {
	t.Helper()
	var out bytes.Buffer
	if err := WriteWorkload(&out, w); err != nil {
		t.Fatal(err)
	}
	got, err := ParseWorkload("out.yaml", out.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !reflect.DeepEqual(got, w) {
		t.Errorf("read back\n%+v\nwritten\n%+v\n%s", got, w, out.String())
	}
}

func TestRoundTripOfEveryField(t *testing.T) {
	t.Parallel()
	w := Workload{
		Name: "all", Source: "here: \"quoted\"\nand there", Description: "every # field",
		Component: contract.ComponentFIFO,
		Objects:   synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: 9, Namespaces: 2, Nodes: 3},
		Ops:       []Op{OpAddPop}, Parallel: []int{1, 2},
		Groups: []Group{
			{Name: "a", Op: OpAdd, Goroutines: 2, Rate: 0.5, Batch: 1, Keys: 3},
			{Name: "b", Op: OpPop, Goroutines: 1, Batch: 7, Work: time.Millisecond,
				Think: 1500 * time.Microsecond},
		},
		Sweep: Sweep{Vary: "a.rate", Values: []int{0, 10}}, Duration: 90 * time.Second,
		Warmup: time.Second,
		Faults: []synthetic.Fault{
			{Kind: synthetic.FaultDelay, After: time.Second, Every: time.Minute, Count: 3,
				Delay: 2 * time.Second},
			{Kind: synthetic.FaultClose, AfterEvents: 4, EveryEvents: 5},
		},
		Seed: 1<<64 - 1,
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	roundTrip(t, w)
}

func TestVariants(t *testing.T) {
	t.Parallel()
	w := Workload{
		Name: "v", Component: contract.ComponentQueue, Objects: synthetic.ObjectSpec{Count: 10},
		Waiting: 10,
		Groups:  []Group{{Name: "a", Op: OpAdd, Goroutines: 1, Keys: 8}},
	}.WithDefaults()
	if got := w.Variants(); len(got) != 1 || got[0].Key != "" ||
		!reflect.DeepEqual(got[0].Workload, w) {
		t.Errorf("without a sweep: %+v", got)
	}
	for _, c := range []struct {
		vary, key string
		get       func(Workload) int
	}{
		{"objects", "objects", func(w Workload) int { return w.Objects.Count }},
		{"waiting", "waiting", func(w Workload) int { return w.Waiting }},
		{"a.goroutines", "a", func(w Workload) int { return w.Groups[0].Goroutines }},
		{"a.rate", "a-rate", func(w Workload) int { return int(w.Groups[0].Rate) }},
		{"a.batch", "a-batch", func(w Workload) int { return w.Groups[0].Batch }},
	} {
		w.Sweep = Sweep{Vary: c.vary, Values: []int{3, 40}}
		got := w.Variants()
		for i, want := range w.Sweep.Values {
			if got[i].Key != c.key || got[i].Value != want || c.get(got[i].Workload) != want ||
				!got[i].Workload.Sweep.IsZero() {
				t.Errorf("%s=%d: %+v", c.vary, want, got[i])
			}
			if v := got[i].Workload; v.Waiting > v.Objects.Count || v.Groups[0].Keys > v.Objects.Count {
				t.Errorf("%s=%d: more waits or is used than there is: %+v", c.vary, want, v)
			}
		}
		if w.Groups[0].Goroutines != 1 || w.Objects.Count != 10 {
			t.Fatalf("%s: Variants changed the workload itself", c.vary)
		}
	}
}

// GOMAXPROCS is no part of the workload itself, so its variants differ in nothing else.
func TestVariantsOfProcs(t *testing.T) {
	t.Parallel()
	w := Workload{Name: "v", Component: contract.ComponentStore,
		Objects: synthetic.ObjectSpec{Count: 10}, Ops: []Op{OpGet}}.WithDefaults()
	want := w
	w.Sweep = Sweep{Vary: VaryProcs, Values: []int{1, 4}}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	for i, v := range w.Variants() {
		if v.Procs != w.Sweep.Values[i] || v.Key != "" || !reflect.DeepEqual(v.Workload, want) {
			t.Errorf("procs=%d: %+v", w.Sweep.Values[i], v)
		}
	}
}

func TestParseSweep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want Sweep
		err  string
	}{
		{"objects=1000,10000", Sweep{"objects", []int{1000, 10000}}, ""},
		{"listers.goroutines=0", Sweep{"listers.goroutines", []int{0}}, ""},
		{"objects", Sweep{}, "no sweep"},
		{"objects=", Sweep{}, "no sweep"},
		{"=1", Sweep{}, "no sweep"},
		{"objects=1,,2", Sweep{}, `"" is no whole number`},
		{"objects=1k", Sweep{}, `"1k" is no whole number`},
	} {
		got, err := ParseSweep(c.text)
		if !reflect.DeepEqual(got, c.want) || (err == nil) != (c.err == "") || err != nil &&
			!strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %+v, %v; want %+v, %q", c.text, got, err, c.want, c.err)
		}
	}
}

func TestLookupOperation(t *testing.T) {
	t.Parallel()
	for _, c := range Components() {
		if len(Operations(c)) == 0 {
			t.Errorf("a %s has no operations", c)
		}
		for _, op := range Operations(c) {
			if got, err := LookupOperation(c, op.Op); err != nil || got != op {
				t.Errorf("LookupOperation(%s, %s) = %v, %v", c, op.Op, got, err)
			}
		}
	}
	if _, err := LookupOperation(contract.ComponentDelay, OpList); err == nil ||
		!strings.Contains(err.Error(), "add, pop, mixed") {
		t.Errorf("the error does not name the operations: %v", err)
	}
}

func FuzzParseWorkload(f *testing.F) {
	f.Add([]byte(validYAML))
	f.Add([]byte("name: &a x\nobjects: *a\n"))
	f.Add([]byte("? [a, b]\n: c\n<<: {count: 1}\n"))
	f.Add([]byte("groups: [[], {}, ~, 1]\nsweep: {vary: .goroutines, values: [1]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := ParseWorkload("fuzz.yaml", data)
		if err != nil {
			if len(err.Error()) == 0 {
				t.Error("an error without words")
			}
			return
		}
		roundTrip(t, w)
		for _, v := range w.Variants() {
			_ = v.Workload.Objects.NodeCount()
		}
	})
}
