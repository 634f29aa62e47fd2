package packed

import (
	"encoding/json"
	"runtime"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/load/synthetic"
)

// source makes objects that share nothing, as they come from an API server.
type source struct {
	name string
	raw  [][]byte
	make func(raw []byte) any
}

func (s *source) at(i int) any { return s.make(s.raw[i%len(s.raw)]) }

// sources returns n pods as typed and as unstructured objects.
func sources(tb testing.TB, n int) []*source {
	tb.Helper()
	objects := synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: n}, 1)
	typed := &source{name: "pod", make: func(raw []byte) any {
		var pod corev1.Pod
		if err := pod.Unmarshal(raw); err != nil {
			panic(err)
		}
		return &pod
	}}
	tree := &source{name: "unstructured", make: func(raw []byte) any {
		var u unstructured.Unstructured
		if err := u.UnmarshalJSON(raw); err != nil {
			panic(err)
		}
		return &u
	}}
	for i := range n {
		pod := objects.At(i).(*corev1.Pod)
		raw, err := pod.Marshal()
		if err != nil {
			tb.Fatal(err)
		}
		typed.raw = append(typed.raw, raw)
		with := *pod
		with.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		if raw, err = json.Marshal(&with); err != nil {
			tb.Fatal(err)
		}
		tree.raw = append(tree.raw, raw)
	}
	return []*source{typed, tree}
}

// heap returns the live bytes and objects.
func heap() (bytes, objects uint64) {
	// Twice, because what a pool or a weak pointer holds goes with the second collection.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, m.HeapObjects
}

// footprint returns the bytes and heap objects of each of n kept objects. It calls with, if that is
// not nil, while they are there.
func footprint(n int, keep func(i int) any, with func()) (bytes, objects float64) {
	kept := make([]any, n)
	b0, o0 := heap()
	for i := range kept {
		kept[i] = keep(i)
	}
	b1, o1 := heap()
	if with != nil {
		with()
	}
	runtime.KeepAlive(kept)
	return float64(b1-b0) / float64(n), float64(o1-o0) / float64(n)
}

// BenchmarkFootprint gives the memory of objects as they are and packed, and the time of a
// collection with them.
func BenchmarkFootprint(b *testing.B) {
	const n = 20_000
	for _, s := range sources(b, n) {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				collect := func(unit string) func() {
					return func() {
						start := time.Now()
						runtime.GC()
						b.ReportMetric(float64(time.Since(start).Microseconds()), unit)
					}
				}
				collect("GC-without-us")()
				plain, plainObjects := footprint(n, s.at, collect("GC-plain-us"))
				b.ReportMetric(plain, "plain-B/object")
				b.ReportMetric(plainObjects, "plain-objects/object")
				k := New(Options{})
				bytes, objects := footprint(n, func(i int) any { return k.Keep(s.at(i)) },
					collect("GC-kept-us"))
				b.ReportMetric(bytes, "kept-B/object")
				b.ReportMetric(objects, "kept-objects/object")
				b.ReportMetric(bytes/plain, "bytes-ratio")
				b.ReportMetric(objects/plainObjects, "objects-ratio")
				runtime.KeepAlive(k)
			}
		})
	}
}

// BenchmarkKeep times Keep in turns with its two large parts.
func BenchmarkKeep(b *testing.B) {
	for _, s := range sources(b, 5000) {
		b.Run(s.name, func(b *testing.B) {
			k := New(Options{})
			objects := make([]any, len(s.raw))
			var r *record
			for i := range objects {
				objects[i] = s.at(i)
				r = k.Keep(objects[i]).(*record)
			}
			codec, made, used := r.made.group.codec, r.made, new(scratch)
			const turn = 200
			buf, raws := make([]byte, 64<<10), make([][]byte, turn)
			var keep, encode, compress time.Duration
			n := 0
			b.ReportAllocs()
			for at := 0; b.Loop(); at = (at + turn) % len(objects) {
				batch := objects[at : at+turn]
				start := time.Now()
				for _, obj := range batch {
					k.Keep(obj)
				}
				keep += time.Since(start)
				start = time.Now()
				for i, obj := range batch {
					raw, _ := codec.encode(used, obj, made.words)
					raws[i] = append(raws[i][:0], raw...)
				}
				encode += time.Since(start)
				start = time.Now()
				for _, raw := range raws {
					made.compress(buf, raw)
				}
				compress += time.Since(start)
				n += turn
			}
			report(b, n, map[string]time.Duration{"keep-us": keep, "bare-encode-us": encode,
				"bare-compress-us": compress, "extra-us": keep - encode - compress})
		})
	}
}

// report gives times for each of n objects.
func report(b *testing.B, n int, times map[string]time.Duration) {
	for unit, d := range times {
		b.ReportMetric(d.Seconds()*1e6/float64(n), unit)
	}
	b.ReportMetric(0, "ns/op")
}

func BenchmarkHot(b *testing.B) {
	for _, s := range sources(b, 1000) {
		b.Run(s.name, func(b *testing.B) {
			k := New(Options{})
			obj := s.at(0)
			kept := k.Keep(obj)
			b.ReportAllocs()
			for b.Loop() {
				k.Object(kept)
			}
			runtime.KeepAlive(obj)
		})
	}
}

// BenchmarkCold times Object, where nobody holds a decoded one, in turns with its two parts.
func BenchmarkCold(b *testing.B) {
	for _, s := range sources(b, 5000) {
		b.Run(s.name, func(b *testing.B) {
			k := New(Options{})
			kept := make([]*record, len(s.raw))
			for i := range kept {
				kept[i] = k.Keep(s.at(i)).(*record)
			}
			kept = kept[1000:] // of the last generation
			runtime.GC()
			runtime.GC()
			const turn = 200
			buf := make([]byte, 64<<10)
			raws := make([][]byte, len(kept))
			var object, decompress, decode time.Duration
			n := 0
			for at := 0; b.Loop(); at = (at + turn) % (len(kept) - turn) {
				batch := kept[at : at+turn]
				for _, r := range batch {
					r.decoded = weakPointer{} // none
				}
				start := time.Now()
				for _, r := range batch {
					k.Object(r)
				}
				object += time.Since(start)
				for i, r := range batch {
					_, _, _, packed := r.parts()
					raw, err := r.made.decompress(nil, packed)
					if err != nil {
						b.Fatal(err)
					}
					raws[i] = raw
				}
				start = time.Now()
				for _, r := range batch {
					_, _, _, packed := r.parts()
					if _, err := r.made.decompress(buf, packed); err != nil {
						b.Fatal(err)
					}
				}
				decompress += time.Since(start)
				start = time.Now()
				for i, r := range batch {
					var obj any = new(corev1.Pod)
					if s.name == "unstructured" {
						obj = new(unstructured.Unstructured)
					}
					if err := r.made.group.codec.decode(raws[i], obj, r.made.words); err != nil {
						b.Fatal(err)
					}
				}
				decode += time.Since(start)
				n += turn
			}
			report(b, n, map[string]time.Duration{"object-us": object, "bare-decompress-us": decompress,
				"bare-decode-us": decode, "extra-us": object - decompress - decode})
		})
	}
}

// BenchmarkJSON is the usual decoder of unstructured objects, for comparison.
func BenchmarkJSON(b *testing.B) {
	s := sources(b, 500)[1]
	for i := 0; b.Loop(); i++ {
		if _, _, err := unstructured.UnstructuredJSONScheme.Decode(s.raw[i%500], nil,
			apiruntime.Object(nil)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(s.raw[0])), "bytes")
}

// BenchmarkElements keeps objects of one array: the runtime searches the weak pointers into an
// allocation one by one.
func BenchmarkElements(b *testing.B) {
	for _, n := range []int{500, 5000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				array := make([]corev1.Pod, n)
				k := New(Options{})
				for i := range array {
					k.Keep(&array[i])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/object")
		})
	}
}
