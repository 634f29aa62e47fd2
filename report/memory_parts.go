package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/informerbench/informerbench/measure/memory"
)

// What a report of memory shows: kinds and fields of at least these shares, and so many kinds in
// full. JSON and the page's picture have more.
const (
	leastKind, leastField = 0.02, 0.02
	leastPart             = 0.005 // of a heap
	mostKinds             = 20
	mostOff               = 0.05 // how far the walk may lie off before the report says so
)

func (m *Memory) title() string {
	if m.Heap != nil {
		return fmt.Sprintf("What the heap of a controller holds: %s MB in %s", megabytes(m.Heap.Total),
			m.Source)
	}
	objects, total := 0, int64(0)
	for i := range m.Objects.Kinds {
		objects += m.Objects.Kinds[i].Objects
		total += m.Objects.Kinds[i].Measured()
	}
	return fmt.Sprintf("What an informer keeps: %s MB, for %s in %s", megabytes(total),
		english.Plural(objects, "object", ""), m.Source)
}

func (m *Memory) describe(p *memoryParts) {
	if m.Heap != nil {
		describeHeap(p, m.Heap)
		return
	}
	total := int64(0)
	for i := range m.Objects.Kinds {
		total += m.Objects.Kinds[i].Measured()
	}
	describeKinds(p, m.Objects)
	for i := range m.Objects.Kinds[:min(mostKinds, len(m.Objects.Kinds))] {
		if k := &m.Objects.Kinds[i]; float64(k.Measured()) >= leastKind*float64(total) {
			describeFields(p, k)
			describeRemedies(p, k, m.Objects.Strip)
		}
	}
	p.head("How it was measured")
	p.say(
		"Objects were decoded from lists as clients do, thrice in turns; bytes are the medians of " +
			"what the heap grew by, after collections. Stores, indexes and handlers come on top.",
	)
	p.say(
		"Fields are counted by a walk with the allocator's size classes. \"equal\" is the share of a " +
			"field's bytes that lie in strings, lists and maps which another object has there, as a " +
			"whole: no more can be shared.",
	)
	p.say("A peak is the most that the heap held, with GOGC=100, while a list was decoded and the " +
		"remedy applied to each object: the answer's bytes, the list and garbage included. It is the " +
		"median of three phases of Go's collector. Streams (client-go's default since v0.35) need " +
		"no more than pages.")
	p.say(
		"A key of a custom object counts as a field if most of the objects have it; others are [*].",
	)
	for i, s := range m.Code {
		if i == 0 {
			p.head("The code")
		}
		p.say("%s:", s.Title)
		*p = append(
			*p,
			memoryPart{code: "import (\n\t" + strings.Join(s.Imports, "\n\t") + "\n)\n\n" + s.Code},
		)
	}
}

func describeKinds(p *memoryParts, r *memory.Report) {
	p.head("Kinds, in MB")
	rows := [][]string{{"objects", "JSON", "typed", "unstructured", "metadata", "kind"}}
	for i := range r.Kinds {
		if i == mostKinds {
			p.say("%d smaller kinds are left out; JSON has them.", len(r.Kinds)-i)
			break
		}
		k := &r.Kinds[i]
		row := []string{humanize.Comma(int64(k.Objects)), megabytes(k.JSON), "-", "-", "-", k.Name()}
		for _, f := range k.Forms {
			switch f.Name {
			case memory.FormTyped:
				row[2] = megabytes(f.Bytes)
			case memory.FormUnstructured:
				row[3] = megabytes(f.Bytes)
			case memory.FormMetadata:
				row[4] = megabytes(f.Bytes)
			}
		}
		rows = append(rows, row)
	}
	p.table(rows, nil)
}

func describeFields(p *memoryParts, k *memory.Kind) {
	p.head(fmt.Sprintf("%s: fields, %s", k.Name(), k.Form))
	if k.Sampled < k.Objects {
		p.say(
			"A sample of %s of the %s objects was measured, and scaled by its bytes of JSON. A larger "+
				"one finds more that is equal.",
			humanize.Comma(int64(k.Sampled)),
			humanize.Comma(int64(k.Objects)),
		)
	}
	if k.Misfit {
		p.say("Some objects do not fit the Go types of Kubernetes, so a form is missing.")
	}
	whole := k.Fields
	whole.Name, whole.Path = "the whole object", "the whole object"
	rows, names := [][]string{{"MB", "share", "equal", "field"}}, []string(nil)
	eachField([]memory.Field{whole}, -1, int64(leastField*float64(k.Walked)),
		func(f *memory.Field, name string) {
			rows = append(rows, []string{megabytes(f.Bytes), shareOf(f.Bytes, k.Walked),
				shareOf(f.Equal, f.Bytes), name})
			names = append(names, f.Path)
		})
	p.table(rows, names)
	off := float64(k.Walked)/float64(max(1, k.Measured())) - 1
	if math.Abs(off) > mostOff && math.Abs(float64(k.Walked-k.Measured())) > 64<<10 {
		p.say("The fields sum up to %s MB, %+.0f%% off the %s MB measured: trust their shares less.",
			megabytes(k.Walked), 100*off, megabytes(k.Measured()))
	}
}

// eachField calls show for each field of at least least bytes, and for the fields below it. The name
// that show gets is indented by depth; at depth 0 it has no dot before it.
func eachField(fields []memory.Field, depth int, least int64, show func(*memory.Field, string)) {
	for i := range fields {
		f := &fields[i]
		if f.Bytes < least {
			continue
		}
		name := f.Name
		if depth > 0 && !strings.HasPrefix(name, "[") {
			name = "." + name
		}
		show(f, strings.Repeat("  ", max(0, depth))+name)
		eachField(f.Fields, depth+1, least, show)
	}
}

func describeRemedies(p *memoryParts, k *memory.Kind, strip []string) {
	p.head(fmt.Sprintf("%s: what a remedy leaves, in MB", k.Name()))
	rows := [][]string{{"stays", "of all", "peak, one list", "peak, pages", "remedy"}}
	for _, r := range k.Remedies {
		rows = append(rows, []string{megabytes(r.Bytes), shareOf(r.Bytes, k.Measured()),
			megabytes(r.PeakList), megabytes(r.PeakPages), r.Name})
	}
	p.table(rows, nil)
	p.say("Fields stripped: %s.", strings.Join(strip, ", "))
}

func describeHeap(p *memoryParts, h *memory.Heap) {
	rows := func(of []memory.Field) (rows [][]string, names []string) {
		rows = [][]string{{"MB", "share", "what"}}
		eachField(of, 0, int64(leastPart*float64(h.Total)), func(f *memory.Field, name string) {
			rows = append(rows, []string{megabytes(f.Bytes), shareOf(f.Bytes, h.Total), name})
			names = append(names, f.Path)
		})
		return rows, names
	}
	p.head("Kubernetes objects, by the decoders that made them")
	if len(h.Decoded) == 0 {
		p.say("None: the objects came as JSON, which loses their kinds, or there are none.")
	} else {
		p.table(rows(h.Decoded))
		p.say("Informers were seen to list or watch: %s.", orNone(strings.Join(h.Informers, ", ")))
	}
	if len(h.Lost) > 0 {
		p.head("Of caches too, kind unknown")
		p.table(rows(h.Lost))
	}
	p.head(fmt.Sprintf("Not of caches: %s MB; the largest packages", megabytes(h.OtherBytes)))
	p.table(rows(h.Other))
	for _, w := range h.Waits {
		describeWaits(p, w)
	}
	p.head("What the profile cannot tell")
	rate := "at an unknown rate"
	if h.Rate > 1 {
		rate = fmt.Sprintf("one each %s allocated, so a line of less than %s MB is rough",
			humanize.IBytes(uint64(h.Rate)), megabytes(100*h.Rate))
	}
	p.say("It has samples, %s. It counts what was alive one or two collections ago, without "+
		"garbage; the process has up to twice as much (GOGC).", rate)
	p.say("JSON is decoded by reflection, which loses kind and field; metadata alone has no kind. " +
		"Maps and strings count in the message that has them. What is equal is not told. " +
		"Go below 1.23 keeps 32 frames of a stack, which may lack the informer's.")
	p.say("To see fields and remedies: benchrun memory --kubeconfig FILE --resource " +
		"pods,deployments.apps")
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func describeWaits(p *memoryParts, w memory.Waits) {
	if w.Of == "goroutines" {
		p.head("The lock of client-go's store, at one moment")
		p.say("%d goroutines wait to read, %d read, %d wait to write.", w.ReadersWait, w.Reading,
			w.WritersWait)
		if w.Starved() {
			p.say(
				"The writer waits for readers. One profile is one moment: if two more say so, readers " +
					"starve it, and a store without a reader's lock helps (this project's informer).",
			)
		}
		return
	}
	p.head("The lock of client-go's store, since the start")
	if len(w.Methods) == 0 {
		p.say("Nothing waited for it, or the program does not sample mutexes " +
			"(runtime.SetMutexProfileFraction).")
		return
	}
	rows := [][]string{{"waited", "share", "times", "for a method of the store"}}
	for _, m := range w.Methods {
		rows = append(rows, []string{duration(float64(m.Wait)), shareOf(int64(m.Wait), int64(w.Total)),
			humanize.Comma(m.Times), m.Method})
	}
	p.table(rows, nil)
	p.say("Shares are of %s that goroutines waited for all locks.", duration(float64(w.Total)))
}
