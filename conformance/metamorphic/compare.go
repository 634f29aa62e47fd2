package metamorphic

import (
	"fmt"
	"maps"
	"slices"
)

// compare asks the store every question and compares the answers with the model's state. It
// also checks that the slices that the store returned at the last comparison are unchanged.
func (x *subject) compare(want answer, s *scales) *problem {
	if p := x.checkHeld(); p != nil {
		return p
	}
	all := want.all
	objects, keys := x.store.List(), x.store.ListKeys()
	if wrong := s.weighObjects(objects, all.objects); wrong != "" {
		return problemf("STORE-4", "List %s", wrong)
	}
	if wrong := s.weighKeys(keys, all.keys); wrong != "" {
		return problemf("STORE-5", "ListKeys %s", wrong)
	}
	for i, key := range all.keys {
		if wrong := x.get(key, all.objects[i]); wrong != "" {
			return problemf("STORE-1", "Get(%q) %s", key, wrong)
		}
	}
	for key := range s.number {
		if all.items[key] == nil {
			if wrong := x.get(key, nil); wrong != "" {
				return problemf("STORE-3", "Get(%q) %s", key, wrong)
			}
		}
	}
	x.held = held{keys: keys}
	x.hold(objects)
	for _, index := range all.names {
		if p := x.compareIndex(index, all.indexes[index], s); p != nil {
			return p
		}
	}
	if _, err := x.store.ByIndex(unknownIndex, ""); err == nil {
		return problemf("STORE-17", "ByIndex of an index that does not exist gave no error")
	}
	if wrong := x.getIndexers(all.names); wrong != "" {
		return problemf("STORE-25", "GetIndexers %s", wrong)
	}
	if wrong := x.lastVersion(want); wrong != "" {
		return problemf("STORE-40", "LastStoreSyncResourceVersion %s", wrong)
	}
	if !x.waives("STORE-6") {
		x.held.keysWere = slices.Clone(x.held.keys)
	}
	return nil
}

// compareIndex asks one index for its values and for the objects and keys of each value.
func (x *subject) compareIndex(index string, want map[string]*matches, s *scales) *problem {
	values := x.store.ListIndexFuncValues(index)
	sorted := slices.Sorted(maps.Keys(want))
	if wrong := sameSet(values, sorted); wrong != "" {
		return problemf("STORE-16", "ListIndexFuncValues(%q) %s", index, wrong)
	}
	for _, v := range sorted {
		objects, err := x.store.ByIndex(index, v)
		if err != nil {
			return problemf("STORE-13", "ByIndex(%q, %q) gave the error %v", index, v, err)
		}
		if wrong := s.weighObjects(objects, want[v].objects); wrong != "" {
			return problemf("STORE-13", "ByIndex(%q, %q) %s", index, v, wrong)
		}
		keys, err := x.store.IndexKeys(index, v)
		if err != nil {
			return problemf("STORE-14", "IndexKeys(%q, %q) gave the error %v", index, v, err)
		}
		if wrong := x.inOrder(keys, want[v].keys, s); wrong != "" {
			return problemf("STORE-14", "IndexKeys(%q, %q) %s", index, v, wrong)
		}
		if index == indexNames[namespace] {
			x.hold(objects)
		}
	}
	return nil
}

// hold keeps a result until the next comparison.
func (x *subject) hold(objects []any) {
	if !x.waives("STORE-6") {
		x.held.objects = append(x.held.objects, objects)
		x.held.objectsWere = append(x.held.objectsWere, slices.Clone(objects))
	}
}

// checkHeld reports results of the last comparison that were changed since.
func (x *subject) checkHeld() *problem {
	for i, now := range x.held.objects {
		if was := x.held.objectsWere[i]; !slices.Equal(now, was) {
			return problemf("STORE-6", "later writes changed a slice that was returned before: it %s",
				difference(texts(now, nameOf), texts(was, nameOf)))
		}
	}
	if x.held.keysWere != nil && !slices.Equal(x.held.keys, x.held.keysWere) {
		return problemf("STORE-6", "later writes changed a slice of keys that was returned before: it %s",
			difference(x.held.keys, x.held.keysWere))
	}
	return nil
}

// String returns the problem and its clause.
func (p *problem) String() string { return fmt.Sprintf("%s (%s)", p.text, p.clause) }
