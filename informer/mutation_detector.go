package informer

// Finding code that changes the objects of the cache, which all readers share.

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// MutationDetectorVariable is the environment variable that turns the detector on, as
// in client-go.
const MutationDetectorVariable = "KUBE_CACHE_MUTATION_DETECTOR"

// Defaults of MutationDetectorOptions.
const (
	DefaultDetectionPeriod = time.Second
	DefaultDetectionRetain = 2 * time.Minute
)

// MutationDetectorOptions configures a MutationDetector. The zero value works.
type MutationDetectorOptions struct {
	// Name is what messages call the cache.
	Name string
	// Period is how often objects are compared; default DefaultDetectionPeriod.
	Period time.Duration
	// Retain is the shortest time for which an object is watched, and half of the longest;
	// default DefaultDetectionRetain.
	Retain time.Duration
	// OnMutation is called with a message that shows the changes. Nil: panic, which ends
	// the process, because no object of the cache can be trusted any more.
	OnMutation func(message string)
	// Clock times the comparisons; nil: the real one.
	Clock clock.WithTicker
}

// MutationDetector keeps a deep copy of each object that it is given, and for a while
// checks that the object still equals its copy. It satisfies cache.MutationDetector.
//
// It is for tests. It more than doubles the memory of objects, and compares each of them
// once in a period. Comparing an object while other code changes it is a data race, as that
// change is one with every reader.
type MutationDetector struct {
	options MutationDetectorOptions
	mu      struct {
		sync.Mutex
		fresh []watched // not yet compared
	}
	// comparing guards the fields below. Run and tests compare.
	comparing sync.Mutex
	young     []watched
	old       []watched
	rotated   time.Time
}

// watched is an object and its copy.
type watched struct{ shared, copied any }

var _ cache.MutationDetector = (*MutationDetector)(nil)

// noMutationDetector stands for a detector that is off.
type noMutationDetector struct{}

func (noMutationDetector) AddObject(any)       {}
func (noMutationDetector) Run(<-chan struct{}) {}

var noDetector cache.MutationDetector = noMutationDetector{}

// NewCacheMutationDetector returns a MutationDetector that panics if the environment has
// KUBE_CACHE_MUTATION_DETECTOR=true, and else one that does nothing. name is the cache's.
func NewCacheMutationDetector(name string) cache.MutationDetector {
	if on, _ := strconv.ParseBool(os.Getenv(MutationDetectorVariable)); !on {
		return noDetector
	}
	klog.Background().Info("The mutation detector is on: each object is kept twice", "cache", name)
	return NewMutationDetector(MutationDetectorOptions{Name: name})
}

// NewMutationDetector returns a detector that has no objects yet.
func NewMutationDetector(options MutationDetectorOptions) *MutationDetector {
	if options.Period <= 0 {
		options.Period = DefaultDetectionPeriod
	}
	if options.Retain <= 0 {
		options.Retain = DefaultDetectionRetain
	}
	if options.OnMutation == nil {
		options.OnMutation = func(message string) { panic(message) }
	}
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	return &MutationDetector{options: options}
}

// AddObject begins to watch obj. An obj that is no runtime.Object cannot be copied, and is
// not watched.
func (d *MutationDetector) AddObject(obj any) {
	o, ok := obj.(runtime.Object)
	if !ok {
		return
	}
	copied := o.DeepCopyObject()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.fresh = append(d.mu.fresh, watched{obj, copied})
}

// Run compares in each period until stopCh is closed, and once more then, which client-go does not.
func (d *MutationDetector) Run(stopCh <-chan struct{}) {
	ticker := d.options.Clock.NewTicker(d.options.Period)
	defer ticker.Stop()
	for {
		d.Compare()
		select {
		case <-ticker.C():
		case <-stopCh:
			d.Compare()
			return
		}
	}
}

// Compare compares all objects now, and reports the changed ones to OnMutation in one
// message. A changed object is reported once only.
func (d *MutationDetector) Compare() {
	d.comparing.Lock()
	defer d.comparing.Unlock()
	d.mu.Lock()
	fresh := d.mu.fresh
	d.mu.fresh = nil
	d.mu.Unlock()

	switch now := d.options.Clock.Now(); {
	case d.rotated.IsZero():
		d.rotated = now
	case now.Sub(d.rotated) > d.options.Retain:
		d.old, d.young, d.rotated = d.young, nil, now
	}
	d.young = append(d.young, fresh...)

	var message string
	d.young, message = unchanged(d.young, message)
	d.old, message = unchanged(d.old, message)
	if message != "" {
		d.options.OnMutation(
			fmt.Sprintf("objects of the cache %s were changed by somebody who got them from it;"+
				" copy an object (DeepCopy) before changing it:%s", d.options.Name, message))
	}
}

// unchanged drops the objects that were changed, and adds them to the message.
func unchanged(all []watched, message string) ([]watched, string) {
	kept := all[:0]
	for _, w := range all {
		if reflect.DeepEqual(w.shared, w.copied) {
			kept = append(kept, w)
			continue
		}
		message += fmt.Sprintf("\n%T, as it was and as it is:\n%s", w.shared,
			diff.ObjectGoPrintSideBySide(w.copied, w.shared))
	}
	clear(all[len(kept):])
	return kept, message
}
