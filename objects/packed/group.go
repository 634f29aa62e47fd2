package packed

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unique"

	"github.com/klauspost/compress/s2"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// group is the objects of one type and kind. They share dictionaries.
type group struct {
	groupKey
	codec     codec
	nilObject any // a nil pointer to an object

	current  atomic.Pointer[generation]
	unproven atomic.Int64 // how many more objects are compared after a round trip
	training training
}

// generation is what a record needs to be decoded. Records refer to it, so it is collected when
// the last record of it is and the group has a newer one.
type generation struct {
	group      *group
	dictionary *s2.Dict // nil before the first
	words      *words   // of unstructured objects; nil before the first dictionary
}

func newGroup(key groupKey, first int) *group {
	g := &group{groupKey: key, nilObject: reflect.Zero(reflect.PointerTo(key.typ)).Interface()}
	codec, verify := codecOf(key.typ)
	g.codec = codec
	g.unproven.Store(verify)
	g.current.Store(&generation{group: g})
	g.training = training{next: first * growth, wanted: first, stride: 1}
	return g
}

// pack returns the record of obj, or nil if it cannot be packed.
func (g *group) pack(obj any, m metav1.Object) *record {
	s := scratches.Get().(*scratch)
	defer s.release()
	made := g.current.Load()
	raw, ok := g.codec.encode(s, obj, made.words)
	if !ok {
		return nil
	}
	start := appendParts(append(s.packed[:0], make([]byte, blobHeader)...), m)
	need := len(start) + s2.MaxEncodedLen(len(raw))
	if cap(start) < need {
		start = append(make([]byte, 0, need+need/4), start...)
	}
	packed := made.compress(start[len(start):need], raw)
	s.packed = start[:len(start)+len(packed)]
	r := &record{
		blob:      newBlob(s.packed),
		namespace: unique.Make(m.GetNamespace()),
		made:      made,
	}
	if g.unproven.Load() > 0 {
		if !r.proves(obj) {
			g.unproven.Store(verifyAll)
			return nil
		}
		g.unproven.Add(-1)
	}
	r.decoded = weakPointer{weakTo(obj)}
	g.observe(r, len(raw), len(packed))
	return r
}

// proves reports whether decoding gives an object equal to obj that shares no memory with the
// buffer that it was decoded from.
func (r *record) proves(obj any) bool {
	s := scratches.Get().(*scratch)
	defer s.release()
	copied, err := r.decodeWith(s)
	clear(s.raw)
	return err == nil && equality.Semantic.DeepEqual(obj, copied)
}

// training decides when a group gets a new dictionary, and collects the samples for it.
type training struct {
	mu      sync.Mutex
	seen    int // objects packed
	next    int // seen at which collecting starts again, if nothing happens before
	stride  int // every stride-th object becomes a sample
	wanted  int // samples, 0 while none are collected
	samples []*record
	bytes   int // of the samples when decompressed
	// The sizes since the window began, and the ratio of the first window of this generation.
	raw, packed, inWindow int
	ratio                 float64
}

const (
	laterSamples = 96      // for dictionaries after the first
	mostStride   = 64      // so that collecting ends, however many objects there were
	mostSampled  = 1 << 20 // bytes of samples: of large objects, fewer are enough
	growth       = 8       // objects until the next dictionary, as a multiple of those so far
	window       = 1024    // objects over which the ratio is measured
	worse        = 1.25    // times the first window's ratio makes a new dictionary
	better       = 0.95    // times the old size is what a new dictionary must reach
)

func (t *training) start(wanted, stride int) {
	t.wanted, t.stride, t.bytes = wanted, stride, 0
}

// observe counts a packed object, and makes the next dictionary when its samples are there. The
// Keep that brings the last sample makes it, for some milliseconds; the others go on.
func (g *group) observe(r *record, raw, packed int) {
	t := &g.training
	t.mu.Lock()
	t.seen++
	t.raw, t.packed, t.inWindow = t.raw+raw, t.packed+packed, t.inWindow+1
	if t.wanted == 0 {
		bad := t.endWindow()
		if t.seen >= t.next {
			t.next = t.seen * growth
			t.start(laterSamples, min(max(1, t.seen/laterSamples), mostStride))
		} else if bad {
			t.start(laterSamples, 1)
		}
		t.mu.Unlock()
		return
	}
	if t.seen%t.stride == 0 {
		t.samples = append(t.samples, r)
		t.bytes += raw
	}
	if len(t.samples) < t.wanted && t.bytes < mostSampled {
		t.mu.Unlock()
		return
	}
	samples := t.samples
	t.samples, t.wanted = nil, 0
	t.mu.Unlock()

	next := g.train(samples)
	if next != nil {
		g.current.Store(next)
	}
	t.mu.Lock()
	t.ratio, t.raw, t.packed, t.inWindow = 0, 0, 0, 0
	t.mu.Unlock()
}

// endWindow reports whether a window has just ended that packed worse than the first.
func (t *training) endWindow() (bad bool) {
	if t.inWindow < window {
		return false
	}
	ratio := float64(t.packed) / float64(t.raw)
	if t.ratio == 0 {
		t.ratio = ratio
	}
	t.raw, t.packed, t.inWindow = 0, 0, 0
	return ratio > t.ratio*worse
}
