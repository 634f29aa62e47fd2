package sharded

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// held is a cut and what it must show for ever.
type held struct {
	cut  cut
	want []any
}

func (h held) check() error {
	if got := h.cut.appendObjects(nil); !slices.Equal(got, h.want) || h.cut.n != len(h.want) {
		return fmt.Errorf("a frozen list of %d objects changed: it has %d now", len(h.want), len(got))
	}
	return nil
}

// Random changes of a list, with cuts held over many of them: no cut may change,
// and each owner must know its position.
func TestFrozenChunksStay(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 0))
		var l list
		var model []any
		var owners []*record
		var cuts []held
		for step := range 6000 {
			grows := step/1500%2 == 0 // over several chunks, and back
			switch kind := r.IntN(10); {
			case kind < 3 && len(model) > 0:
				at := r.IntN(len(model))
				l.set(at, step)
				model[at] = step
			case (kind < 8) == grows:
				owner := &record{key: fmt.Sprint(step)}
				owner.at = l.add(step, owner)
				model, owners = append(model, step), append(owners, owner)
			case len(model) > 0:
				at, last := r.IntN(len(model)), len(model)-1
				moved := l.remove(at)
				if (moved == nil) != (at == last) || at != last && moved != owners[last] {
					t.Fatalf("seed %d, step %d: removing %d of %d moved %v", seed, step, at, len(model), moved)
				}
				if moved != nil {
					moved.at = at
				}
				model[at], owners[at] = model[last], owners[last]
				model, owners = model[:last], owners[:last]
			}
			if r.IntN(20) == 0 {
				l.freeze()
				cuts = append(cuts, held{l.look(), slices.Clone(model)})
			}
			if len(cuts) > 20 {
				cuts = cuts[1:]
			}
			if step%10 == 0 {
				for _, h := range cuts {
					if err := h.check(); err != nil {
						t.Fatalf("seed %d, step %d: %v", seed, step, err)
					}
				}
			}
			if step%100 == 0 {
				if err := l.verify(model, owners); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, step, err)
				}
			}
		}
	}
}

// verify compares the list with what it must hold, and checks its shape.
func (l *list) verify(objects []any, owners []*record) error {
	if l.n != len(objects) || len(l.chunks) != (l.n+chunkLen-1)/chunkLen {
		return fmt.Errorf("%d entries in %d chunks; want %d entries", l.n, len(l.chunks), len(objects))
	}
	for i, c := range l.chunks {
		if full := i < len(l.chunks)-1; full && len(c.objects) != chunkLen ||
			len(c.objects) != len(c.owners) || cap(c.objects) > chunkLen {
			return fmt.Errorf("chunk %d of %d has %d objects, %d owners and room for %d", i, len(l.chunks),
				len(c.objects), len(c.owners), cap(c.objects))
		}
	}
	for at := range objects {
		c := l.chunks[at/chunkLen]
		if c.objects[at%chunkLen] != objects[at] || c.owners[at%chunkLen] != owners[at] ||
			owners[at].at != at {
			return fmt.Errorf("entry %d is not what was put there, or its owner says %d", at, owners[at].at)
		}
	}
	return nil
}

// Without a reader nothing is copied; after one, a chunk is copied once.
func TestCopiesOncePerFreeze(t *testing.T) {
	t.Parallel()
	var l list
	for i := range 3 * chunkLen {
		l.add(i, &record{})
	}
	before := slices.Clone(l.chunks)
	for i := range 3 * chunkLen {
		l.set(i, -i)
	}
	if !slices.Equal(before, l.chunks) {
		t.Error("chunks were copied that no reader has")
	}
	l.freeze()
	frozen := l.look()
	l.set(0, "new")
	copied := l.chunks[0]
	for i := range chunkLen {
		l.set(i, "newer")
	}
	if copied == before[0] || l.chunks[0] != copied {
		t.Error("the frozen chunk was not copied, or more than once")
	}
	if !slices.Equal(before[1:], l.chunks[1:]) {
		t.Error("chunks were copied that did not change")
	}
	if !slices.Equal(frozen.chunks, before) {
		t.Error("the directory that the reader has was changed")
	}
}

func TestRoomFor(t *testing.T) {
	t.Parallel()
	for n := 1; n <= chunkLen; n++ {
		if room := roomFor(n); room < n || room > chunkLen || room >= 2*n && room > 1 &&
			room != chunkLen {
			t.Errorf("%d entries get room for %d", n, room)
		}
	}
}

// A chunk that objects have left gives up its room and what it held.
func TestChunkShrinks(t *testing.T) {
	t.Parallel()
	var l list
	for i := range chunkLen {
		l.add(i, &record{})
	}
	first := l.chunks[0].objects
	for l.n > 1 {
		l.remove(l.n - 1)
	}
	if room := cap(l.chunks[0].objects); room > 4 {
		t.Errorf("one entry keeps room for %d", room)
	}
	if first[chunkLen-1] != nil {
		t.Error("an object that was removed is still reachable")
	}
}
