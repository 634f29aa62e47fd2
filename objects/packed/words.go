package packed

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// words returns the strings that two samples have, the most frequent first: they have the
// shortest numbers.
func (c treeCodec) words(samples []sample) *words {
	type use struct {
		count   int
		newest  int // the sample that used the string last
		several bool
	}
	uses := map[string]*use{}
	for n, s := range samples {
		var u unstructured.Unstructured
		if c.decode(s.raw, &u, s.made.words) != nil {
			continue
		}
		visitStrings(u.Object, func(text string) {
			if len(text) > longest {
				return
			}
			seen := uses[text]
			if seen == nil {
				seen = &use{newest: n}
				uses[text] = seen
			}
			seen.count++
			seen.several = seen.several || seen.newest != n || len(samples) == 1
		})
	}
	maps.DeleteFunc(uses, func(_ string, u *use) bool { return !u.several })
	all := slices.SortedFunc(maps.Keys(uses), func(a, b string) int {
		return cmp.Or(cmp.Compare(uses[b].count, uses[a].count), cmp.Compare(a, b))
	})
	all = all[:min(len(all), mostWords)]
	w := &words{index: make(map[string]uint64, len(all))}
	for i, text := range all {
		text = strings.Clone(text) // decoded strings may lie in larger ones
		w.index[text] = uint64(i)
		w.strings = append(w.strings, text)
		w.boxed = append(w.boxed, text)
	}
	return w
}

// reencode returns a sample as next encodes it.
func (c treeCodec) reencode(s sample, next *generation) sample {
	var u unstructured.Unstructured
	var t treeWriter
	if c.decode(s.raw, &u, s.made.words) == nil {
		t.encode(u.Object, next.words)
	}
	return sample{t.dst, next}
}

func visitStrings(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case []any:
		for _, e := range v {
			visitStrings(e, visit)
		}
	case map[string]any:
		for key, e := range v {
			visit(key)
			visitStrings(e, visit)
		}
	}
}
