// Package memory measures what an informer's objects take on the heap, what of them takes it, and
// what each remedy leaves.
//
//   - A [Sampler] reads objects (ReadJSON, AddTrace, or Add for each) and keeps a random sample of
//     each kind as JSON.
//   - [Measure] decodes each sample as clients do, applies the remedies, and reads the heap before
//     and after. A walk over the objects divides it among field paths.
//   - [Code] writes the remedies as Go.
//   - [ReadProfile] and its methods do it from outside, by the profiles of a running controller.
//
// Measure reads the heap of the whole process: nothing else may run beside it. No result has a name
// of an object, a value, or a key that is not Kubernetes' own.
package memory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/contract"
)

// Keeper is an ObjectKeeper of the table of remedies.
type Keeper struct {
	Name string
	New  func() contract.ObjectKeeper
}

// Options says what Measure does. The zero value measures typed objects.
type Options struct {
	// Form is the form that fields and remedies are measured in, one of Forms; "" is FormTyped. A
	// kind without a Go type is unstructured.
	Form string
	// Strip are paths of fields to strip; nil is DefaultStrip.
	Strip []string
	// Keepers are the ObjectKeepers to measure.
	Keepers []Keeper
	// Progress, if not nil, is called after each measurement.
	Progress func(done, total int)
}

// DefaultStrip are the fields that are stripped where none are named: no reconciler reads them.
var DefaultStrip = []string{"metadata.managedFields",
	`metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]`}

// The forms of an object in memory.
const (
	FormTyped        = "typed"         // a Go type, decoded from protobuf; from JSON it is as large
	FormUnstructured = "unstructured"  // maps, decoded from JSON
	FormMetadata     = "metadata only" // PartialObjectMetadata, decoded from protobuf
)

// Forms are the forms that Options.Form takes.
var Forms = []string{FormTyped, FormUnstructured}

// Report is what Measure finds. Bytes are those of all objects, scaled up from the samples.
type Report struct {
	Kinds []Kind   `json:"kinds"` // the largest first
	Strip []string `json:"strip"`
}

// Kind is what is found of a kind's objects.
type Kind struct {
	Group   string `json:"group,omitempty"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	// Objects is how many there are, Sampled how many of them were measured.
	Objects int `json:"objects"`
	Sampled int `json:"sampled"`
	// JSON is the bytes of all objects as JSON. Samples are scaled by their share of it.
	JSON int64 `json:"jsonBytes"`
	// Form is the form that Fields and Remedies are of.
	Form   string `json:"form"`
	Misfit bool   `json:"misfit,omitempty"` // the objects do not fit client-go's type
	Forms  []Form `json:"forms"`
	// Walked is what the walk over the objects counts. Fields divides it.
	Walked   int64    `json:"walkedBytes"`
	Fields   Field    `json:"fields"`
	Remedies []Remedy `json:"remedies"` // the first is none
}

// Form is what the objects take in a form.
type Form struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Measured is what the objects take in the form of Fields.
func (k *Kind) Measured() int64 { return k.Remedies[0].Bytes }

// Name is "apps/v1 Deployment".
func (k *Kind) Name() string {
	if k.Group == "" {
		return k.Version + " " + k.Kind
	}
	return k.Group + "/" + k.Version + " " + k.Kind
}

// Remedy is what is left by a remedy.
type Remedy struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	// PeakList is the most that the heap holds while one list brings all objects, PeakPages where
	// pages of PageSize do. Both have the garbage that GOGC=100 lets stand.
	PeakList  int64 `json:"peakListBytes"`
	PeakPages int64 `json:"peakPagesBytes"`
}

// PageSize is the number of objects of a page.
const PageSize = 500

// rounds is how often everything is measured, in turns. The medians count.
const rounds = 3

// The names of remedies.
const (
	asItIs    = "as it is"
	noManaged = "managedFields stripped"
	stripped  = "fields stripped"
)

// task is one cell of the tables: a form and a remedy, by pages and as a whole.
type task struct {
	remedy              string // "" is a form for comparison: its peak does not count
	form                *form
	keeper              func() func(runtime.Object) any
	stays, peak, atOnce []int64 // by round; atOnce is the peak of one list
}

// Measure measures the samples, some seconds for 5,000 pods. The time is linear in the samples. It
// ends early with ctx.
func Measure(ctx context.Context, s *Sampler, o Options) (*Report, error) {
	if o.Strip == nil {
		o.Strip = DefaultStrip
	}
	paths, err := parsePaths(o.Strip)
	if err != nil {
		return nil, err
	}
	if o.Form == "" {
		o.Form = FormTyped
	}
	if !slices.Contains(Forms, o.Form) {
		return nil, fmt.Errorf("%q is no form: use one of %q", o.Form, Forms)
	}
	kinds := s.sorted()
	if len(kinds) == 0 {
		return nil, errors.New("there are no objects: nothing to measure")
	}
	out := &Report{Strip: o.Strip}
	done := 0
	for i, k := range kinds {
		tasks, base := tasksOf(k, o, paths)
		// Of the kinds to come the same number of measurements is expected.
		total := done + (len(kinds)-i)*rounds*len(tasks)
		for round := range rounds {
			for _, t := range tasks {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				if t.measure(k, round) != nil { // the error may quote the objects
					return nil, fmt.Errorf("%s: client-go cannot decode its objects: leave the kind out",
						k.kind.Name())
				}
				if done++; o.Progress != nil {
					o.Progress(done, total)
				}
			}
		}
		if err := k.report(tasks, base); err != nil {
			return nil, err
		}
		out.Kinds = append(out.Kinds, k.kind)
		k.sample = nil
	}
	slices.SortStableFunc(out.Kinds, func(a, b Kind) int { return int(b.Measured() - a.Measured()) })
	return out, nil
}

// tasksOf lists what is measured of a kind: the remedies in the order of the table, and the forms
// that are none. base is the form of its fields and remedies.
func tasksOf(k *sampled, o Options, paths []fieldPath) (tasks []*task, base *form) {
	forms := formsOf(k)
	base = forms[FormUnstructured]
	if f := forms[o.Form]; f != nil {
		base = f
	}
	add := func(remedy string, f *form, keeper func() func(runtime.Object) any) {
		if f != nil {
			tasks = append(tasks, &task{remedy: remedy, form: f, keeper: keeper})
		}
	}
	managed, _ := parsePaths(DefaultStrip[:1]) // it is right
	add(asItIs, base, keepAll)
	add(noManaged, base, stripper(managed))
	add(stripped, base, stripper(paths))
	add(FormMetadata, forms[FormMetadata], keepAll)
	for _, keeper := range o.Keepers {
		add(keeper.Name, base, func() func(runtime.Object) any {
			made := keeper.New()
			return func(obj runtime.Object) any { return made.Keep(obj) }
		})
	}
	for _, f := range forms {
		if f != base && f.name != FormMetadata {
			add("", f, keepAll)
		}
	}
	return tasks, base
}

func keepAll() func(runtime.Object) any { return func(obj runtime.Object) any { return obj } }

func stripper(paths []fieldPath) func() func(runtime.Object) any {
	return func() func(runtime.Object) any {
		return func(obj runtime.Object) any {
			for _, p := range paths {
				p.strip(obj)
			}
			return obj
		}
	}
}

// measure adds a round to a task. The peak depends on when Go collects, so each round begins at
// another phase of its cycle.
func (t *task) measure(k *sampled, round int) error {
	phase := math.Exp2(-float64(round) / rounds)
	pages, err := t.form.bodies(k.sample, PageSize)
	if err != nil {
		return err
	}
	stays, peak, err := start(t.form, pages, len(k.sample), phase, t.keeper)
	if err != nil {
		return err
	}
	t.stays, t.peak = append(t.stays, stays), append(t.peak, peak)
	if t.remedy == "" {
		return nil
	}
	list, err := t.form.bodies(k.sample, len(k.sample))
	if err != nil {
		return err
	}
	_, peak, err = start(t.form, list, len(k.sample), phase, t.keeper)
	t.atOnce = append(t.atOnce, peak)
	return err
}

// report fills in the results of a kind.
func (k *sampled) report(tasks []*task, base *form) error {
	scale := float64(k.kind.JSON) / float64(max(1, k.sampleBytes))
	scaled := func(of []int64) int64 {
		if len(of) == 0 {
			return 0
		}
		slices.Sort(of)
		return int64(scale * float64(of[len(of)/2]))
	}
	k.kind.Sampled, k.kind.Form = len(k.sample), base.name
	seen := map[string]bool{}
	for _, t := range tasks {
		if !seen[t.form.name] {
			seen[t.form.name] = true
			k.kind.Forms = append(k.kind.Forms, Form{t.form.name, scaled(t.stays)})
		}
		if t.remedy != "" {
			k.kind.Remedies = append(k.kind.Remedies,
				Remedy{t.remedy, scaled(t.stays), scaled(t.atOnce), scaled(t.peak)})
		}
	}
	w := newWalker(k.gvk, base.name)
	pages, err := base.bodies(k.sample, PageSize)
	if err != nil {
		return err
	}
	for _, body := range pages {
		list, err := base.decode(body)
		if err != nil {
			return err
		}
		objects, err := meta.ExtractListWithAlloc(list)
		if err != nil {
			return err
		}
		for _, obj := range objects {
			w.object(obj)
		}
	}
	k.kind.Fields = w.fields(scale)
	k.kind.Walked = k.kind.Fields.Bytes
	return nil
}
