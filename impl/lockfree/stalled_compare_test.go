package lockfree

import (
	"fmt"
	"maps"
	"slices"
)

// compare holds every snapshot, and the store itself, against the plain map.
func (h *history) compare() {
	for i, open := range h.snapshots {
		if open.pending {
			continue
		}
		want, known := h.contents[instant{open.view.core, open.seq}]
		if !known {
			failf("snapshot %d is of write %d, which there never was", i, open.seq)
		}
		v, seq := open.view, open.seq
		got := reading{
			objects: v.objects.objects(nil, seq, &v.shown),
			keys:    v.objects.keys(nil, seq, &v.shown),
			values:  func(x *index) []string { return x.values(seq) },
			bucket: func(x *index, value string) ([]any, []string) {
				b := x.bucketAt(value, seq)
				if b == nil {
					return nil, nil
				}
				return b.list(nil, seq, &v.shown), b.objects.keys(nil, seq, &v.shown)
			},
		}
		if problem := got.against(v, want); problem != "" {
			failf("snapshot %d, of write %d: %s", i, seq, problem)
		}
	}
	v := h.s.view.Load()
	got := reading{
		objects: h.s.List(),
		keys:    h.s.ListKeys(),
		values:  func(x *index) []string { return h.s.ListIndexFuncValues(x.name) },
		bucket: func(x *index, value string) ([]any, []string) {
			objects, err := h.s.ByIndex(x.name, value)
			keys, err2 := h.s.IndexKeys(x.name, value)
			if err != nil || err2 != nil {
				failf("the index %q: %v, %v", x.name, err, err2)
			}
			return objects, keys
		},
	}
	if problem := got.against(v, h.now); problem != "" {
		failf("the store: %s", problem)
	}
	for i := range historyKeys {
		key := fmt.Sprint("k", i)
		want, there := h.now[key]
		if obj, ok := h.s.Get(key); ok != there || there && obj != any(want) {
			failf("Get(%s) is %v, %v; want %v", key, obj, ok, want)
		}
	}
	if got := h.s.LastStoreSyncResourceVersion(); got != h.version {
		failf("the resource version is %q; want %q", got, h.version)
	}
}

// reading is everything that can be read at a snapshot.
type reading struct {
	objects []any
	keys    []string
	values  func(*index) []string
	bucket  func(x *index, value string) ([]any, []string)
}

// against returns what is wrong with a reading of v, where want is the content.
func (r reading) against(v *view, want content) string {
	if problem := sameMembers(r.objects, r.keys, slices.Collect(maps.Values(want))); problem != "" {
		return problem
	}
	for _, x := range v.indexes {
		byValue := map[string][]*member{}
		for _, m := range want {
			values, _ := x.compute(m)
			for _, value := range values {
				if !slices.Contains(byValue[value], m) { // the IndexFunc may list a value twice
					byValue[value] = append(byValue[value], m)
				}
			}
		}
		got, wanted := slices.Sorted(slices.Values(r.values(x))), slices.Sorted(maps.Keys(byValue))
		if !slices.Equal(got, wanted) {
			return fmt.Sprintf("the values in %s are %q; want %q", x.name, got, wanted)
		}
		for _, value := range historyIndexers[x.ordinal].values { // also those that no object has
			objects, keys := r.bucket(x, value)
			if problem := sameMembers(objects, keys, byValue[value]); problem != "" {
				return fmt.Sprintf("%q in %s: %s", value, x.name, problem)
			}
		}
	}
	return ""
}

func sameMembers(objects []any, keys []string, want []*member) string {
	var wanted, got []string
	for _, m := range want {
		wanted = append(wanted, fmt.Sprint(m.key, "=", m.number))
	}
	for _, obj := range objects {
		m := obj.(*member)
		got = append(got, fmt.Sprint(m.key, "=", m.number))
	}
	slices.Sort(wanted)
	slices.Sort(got)
	if !slices.Equal(got, wanted) {
		return fmt.Sprintf("the objects are %v; want %v", got, wanted)
	}
	var wantedKeys []string
	for _, m := range want {
		wantedKeys = append(wantedKeys, m.key)
	}
	if keys = slices.Sorted(slices.Values(keys)); !slices.Equal(keys,
		slices.Sorted(slices.Values(wantedKeys))) {
		return fmt.Sprintf("the keys are %v; want %v", keys, wantedKeys)
	}
	return ""
}
