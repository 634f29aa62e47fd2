package packed

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var testWords = treeCodec{}.words([]sample{
	{raw: mustEncode(map[string]any{"kind": "Pod", "a": "b"}), made: &generation{}}})

func mustEncode(root map[string]any) []byte {
	var t treeWriter
	raw, ok := t.encode(root, nil)
	if !ok {
		panic("not encoded")
	}
	return raw
}

// TestTreeIsLossless compares by reflect.DeepEqual, which tells nil from empty.
func TestTreeIsLossless(t *testing.T) {
	t.Parallel()
	f := &filler{rng: rand.New(rand.NewPCG(2, 2))}
	roots := []map[string]any{nil, {}, {"i": []any{int64(math.MinInt64), int64(math.MaxInt64),
		int64(1) << 58, int64(-1) << 58, int64(1) << 59, int64(-1) << 59, int64(-1)<<59 - 1}},
		{"f": []any{math.Inf(1), math.Copysign(0, -1), 1e300, float64(1)}}, {"": ""}}
	for range 500 {
		root, _ := f.tree(0).(map[string]any)
		roots = append(roots, root)
	}
	for _, w := range []*words{nil, testWords} {
		for _, root := range roots {
			var tw treeWriter
			raw, ok := tw.encode(root, w)
			var got unstructured.Unstructured
			if err := (treeCodec{}).decode(raw, &got, w); !ok || err != nil {
				t.Fatalf("%v: %v, %v", root, ok, err)
			}
			if !reflect.DeepEqual(got.Object, root) {
				t.Fatalf("decoded %#v, want %#v", got.Object, root)
			}
		}
	}
}

// FuzzTree decodes any bytes. What is decoded must come back after another round trip.
func FuzzTree(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{1<<tagBits | tagMap, 0<<tagBits | tagWord, 3 << tagBits})
	f.Add([]byte{0xf0 | tagMap, 0xff, 0xff, 0x7f})
	f.Add(mustEncode(map[string]any{"a": []any{int64(1), 2.5, "x", true, nil, map[string]any{}}}))
	f.Add(mustEncode(map[string]any{"a": int64(math.MinInt64), "b": []any(nil)}))
	deep := map[string]any{}
	for range 20 {
		deep = map[string]any{"d": []any{deep}}
	}
	f.Add(mustEncode(deep))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, w := range []*words{nil, testWords} {
			var u, again unstructured.Unstructured
			if (treeCodec{}).decode(raw, &u, w) != nil {
				continue
			}
			var tw, other treeWriter
			first, ok := tw.encode(u.Object, w)
			if !ok {
				t.Fatalf("decoded %#v, which cannot be encoded", u.Object)
			}
			if err := (treeCodec{}).decode(first, &again, w); err != nil {
				t.Fatal(err)
			}
			// By bytes, because NaN does not equal itself.
			second, ok := other.encode(again.Object, w)
			if !ok || string(first) != string(second) {
				t.Fatalf("%x became %x", first, second)
			}
		}
	})
}
