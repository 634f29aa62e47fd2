package storetest

import "github.com/informerbench/informerbench/contract"

const (
	crew   = 16 // objects of a scene
	circle = 40 // keys through which the window moves before it starts again
)

// scenes are the ways in which one writer changes the content.
var scenes = []scene{
	{
		name:    "under-replace",
		why:     "readers that see half a relist act on objects as if they were gone",
		content: generation,
		write:   func(s contract.Store, n int) { s.Replace(newModel(generation(n)...).asMap(), "1") },
	},
	{
		name: "under-update",
		why: "an object that moves is counted twice or not at all, or a later write is seen without " +
			"an earlier one",
		content: func(n int) []*item {
			items := make([]*item, crew)
			for j := range items {
				items[j] = at(j, lastWrite(n, j))
			}
			return items
		},
		write: func(s contract.Store, n int) { s.Update(key(n%crew), at(n%crew, n)) },
	},
	{
		name:    "under-add-and-delete",
		why:     "a later object is seen and an earlier one is not, or more objects than there ever were",
		content: window,
		write: func(s contract.Store, n int) {
			if n%2 == 1 {
				next := n/2 + crew
				s.Add(key(next%circle), at(next%circle, next))
			} else {
				s.Delete(key((n/2 - 1) % circle))
			}
		},
	},
	{
		name:    "under-transaction",
		clause:  "STORE-38",
		why:     "a batch stands for a burst of events; half of it never was",
		batch:   true,
		content: batch,
		write: func(s contract.Store, n int) {
			writes := []contract.StoreTransaction{remove(key(crew - 1 + (n+1)%2))}
			for _, i := range batch(n) {
				writes = append(writes, update(i))
			}
			s.(contract.Transactor).Transaction(writes...)
		},
	},
}

// generation returns the content after the n-th Replace. All objects are new; half of the
// keys are those of the generation before.
func generation(n int) []*item {
	items := make([]*item, crew)
	for j := range items {
		items[j] = at(j+n%2*crew/2, n)
	}
	return items
}

// lastWrite returns the newest of writes 1 to n that was to key j, if the writes go to the
// keys in turn; 0 if none was.
func lastWrite(n, j int) int { return max(0, n-((n-j)%crew+crew)%crew) }

// window returns the content after n writes that, in turn, add the next object and delete
// the oldest.
func window(n int) []*item {
	var items []*item
	for j := n / 2; j < (n+1)/2+crew; j++ {
		items = append(items, at(j%circle, j))
	}
	return items
}

// batch returns the content after the n-th Transaction. Each one rewrites every object, and
// moves the last object to another key.
func batch(n int) []*item {
	items := make([]*item, crew)
	for j := range items {
		items[j] = at(j, n)
	}
	items[crew-1] = at(crew-1+n%2, n)
	return items
}
