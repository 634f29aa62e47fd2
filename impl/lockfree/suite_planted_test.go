//go:build explore

package lockfree_test

import (
	"testing"

	"github.com/informerbench/informerbench/internal/explore"
)

// faults are mistakes that a change of the store could introduce, each in one step of its
// protocol.
var faults = explore.Faults([]explore.Fault{
	{Name: "a bucket dropped that a snapshot sees", File: "index.go",
		Edits: [][2]string{{
			"	if anyWithin(open, b.objects.since, until) {\n",
			"	if anyWithin(open, b.objects.since, until) && !explore.Planted(\"a bucket dropped that a " +
				"snapshot sees\") {\n",
		}}},
	{Name: "a bucket whose end is not looked at", File: "index.go", Edits: [][2]string{{
		"until != 0 && until <= seq {\n",
		"until != 0 && until <= seq && !explore.Planted(\"a bucket whose end is not looked at\") {\n",
	}}},
	{Name: "a bucket that does not lead to the one before", File: "index.go",
		Edits: [][2]string{{
			"		b.prior.Store(prior)\n",
			"		if !explore.Planted(\"a bucket that does not lead to the one before\") " +
				"{\n			b.prior.Store(prior)\n		}\n",
		}}},
	{Name: "a bucket used again at once", File: "standin.go", Edits: [][2]string{{
		"		s.buckets.retire(old)\n",
		"		if explore.Planted(\"a bucket used again at once\") {\n			old.reset()\n			s.buckets.free = " +
			"append(s.buckets.free, old)\n		} else {\n			s.buckets.retire(old)\n		}\n",
	}}},
	{Name: "committed before the write", File: "write.go", Edits: [][2]string{{
		"	w.seq = c.committed.Load() + 1\n",
		"	w.seq = c.committed.Load() + 1\n	if explore.Planted(\"committed before the write\") " +
			"{\n		c.committed.Store(w.seq)\n	}\n",
	}}},
	{Name: "the snapshot's number before the slot", File: "readers.go",
		Edits: [][2]string{{
			"	start := rand.Uint32()\n",
			"	early := uint64(0)\n	if explore.Planted(\"the snapshot's number before the slot\") {\n		" +
				"early = committed.Load()\n	}\n	start := rand.Uint32()\n",
		}, {
			"			if s.state.CompareAndSwap(slotPending, seq+slotBase) {\n",
			"			if explore.Planted(\"the snapshot's number before the slot\") {\n				seq = " +
				"early\n			}\n			if s.state.CompareAndSwap(slotPending, seq+slotBase) {\n",
		}}},
	{Name: "the reader's number instead of the writer's choice", File: "readers.go",
		Edits: [][2]string{{
			"			return s, s.state.Load() - slotBase //",
			"			if explore.Planted(\"the reader's number instead of the writer's choice\") {\n				return " +
				"s, seq\n			}\n			return s, s.state.Load() - slotBase //",
		}}},
	{Name: "a stand-in used again at once", File: "standin.go", Edits: [][2]string{{
		"		w.spares.standIns.retire(s)\n",
		"		if explore.Planted(\"a stand-in used again at once\") {\n			s.of, s.before = nil, " +
			"nil\n			w.spares.standIns.free = append(w.spares.standIns.free, s)\n		} else " +
			"{\n			w.spares.standIns.retire(s)\n		}\n",
	}}},
	{Name: "a version used again at once", File: "write.go", Edits: [][2]string{{
		"			c.write.spares.versions.retire(n)\n",
		"			if explore.Planted(\"a version used again at once\") {\n				*n = " +
			"version{}\n				c.write.spares.versions.free = append(c.write.spares.versions.free, n)\n			} " +
			"else {\n				c.write.spares.versions.retire(n)\n			}\n",
	}}},
	{Name: "a Get without a snapshot", File: "store.go", Edits: [][2]string{{
		"	item = r.object(seq, &c.shown)\n",
		"	if explore.Planted(\"a Get without a snapshot\") {\n		slot.state.Store(slotFree)\n	}\n	item " +
			"= r.object(seq, &c.shown)\n",
	}}},
	{Name: "a record moved without a stand-in", File: "array.go", Edits: [][2]string{{
		"	a.standIn(w, pos, last)\n",
		"	if explore.Planted(\"a record moved without a stand-in\") {\n		a.cell(pos).Store(last)\n	} " +
			"else {\n		a.standIn(w, pos, last)\n	}\n",
	}}},
	{Name: "the object not hidden", File: "values.go", Edits: [][2]string{{
		"		atomic.StorePointer(&e.data, nil)\n",
		"		if !explore.Planted(\"the object not hidden\") {\n			atomic.StorePointer(&e.data, nil)\n		}\n",
	}}},
	{Name: "the object shown before the commit", File: "write.go", Edits: [][2]string{{
		"	c.resourceVersion.note(w)\n",
		"	c.resourceVersion.note(w)\n	if explore.Planted(\"the object shown before the commit\") " +
			"{\n		c.shown.show()\n	}\n",
	}}},
	{Name: "in place beside a snapshot", File: "inplace.go", Edits: [][2]string{{
		"		!c.idle():\n",
		"		!c.idle() && !explore.Planted(\"in place beside a snapshot\"):\n",
	}}},
	{Name: "in place, the object not hidden", File: "inplace.go", Edits: [][2]string{{
		"	atomic.StorePointer(&e.data, nil)\n",
		"	if !explore.Planted(\"in place, the object not hidden\") {\n		atomic.StorePointer(&e.data, " +
			"nil)\n	}\n",
	}}},
	{Name: "in place, the object shown first", File: "inplace.go", Edits: [][2]string{{
		"	atomic.StorePointer(&e.data, nil)\n",
		"	if !explore.Planted(\"in place, the object shown first\") {\n		atomic.StorePointer(&e.data, " +
			"nil)\n	} else {\n		atomic.StorePointer(&e.data, to.data)\n	}\n",
	}}},
	{Name: "in place, a copy that stays", File: "copies.go", Edits: [][2]string{{
		"	if c.touch(w, pos) {\n",
		"	if !explore.Planted(\"in place, a copy that stays\") && c.touch(w, pos) {\n",
	}}},
	{Name: "in place, a block touched with the last number", File: "inplace.go",
		Edits: [][2]string{{
			"	commit := c.objects",
			"	if explore.Planted(\"in place, a block touched with the last number\") {\n		w.seq = " +
				"c.committed.Load()\n	}\n	commit := c.objects",
		}}},
	{Name: "in place, a commit before the object", File: "inplace.go",
		Edits: [][2]string{{
			"	rec.setData(to.data)\n",
			"	if explore.Planted(\"in place, a commit before the object\") " +
				"{\n		c.committed.Store(w.seq)\n	}\n	rec.setData(to.data)\n",
		}}},
	{Name: "in place, a resource version before its object", File: "resourceversion.go",
		Edits: [][2]string{{
			"	if s.seq == noWrite {\n",
			"	if s.seq == noWrite {\n		if explore.Planted(\"in place, a resource version before its " +
				"object\") {\n			return true\n		}\n",
		}}},
	{Name: "in place, a resource version after its object", File: "inplace.go",
		Edits: [][2]string{{
			"	if w.known {\n",
			"	if w.known && explore.Planted(\"in place, a resource version after its object\") {\n		defer " +
				"c.resourceVersion.set(w.rv, noWrite, rec, uintptr(to.data))\n	} else if w.known {\n",
		}}},
	{Name: "a resource version before the commit", File: "resourceversion.go",
		Edits: [][2]string{{
			"	return s.seq <= committed.Load()\n",
			"	return s.seq <= committed.Load() || explore.Planted(\"a resource version before the " +
				"commit\")\n",
		}}},
	{Name: "an entry found before its record", File: "table.go", Edits: [][2]string{{
		"	e.key = key\n",
		"	e.key = key\n	if explore.Planted(\"an entry found before its record\") " +
			"{\n		e.word.Store(word)\n	}\n",
	}}},
	{Name: "a copy newer than the snapshot", File: "copies.go", Edits: [][2]string{{
		"	if touched > seq {\n",
		"	if touched > seq && !explore.Planted(\"a copy newer than the snapshot\") {\n",
	}}},
	{Name: "an index published before it is filled", File: "writers.go",
		Edits: [][2]string{{
			"		v = v.withFilled(x, values[i])\n",
			"		if explore.Planted(\"an index published before it is filled\") " +
				"{\n			s.view.Store(v.with(x))\n		}\n		v = v.withFilled(x, values[i])\n",
		}}},
})

// TestExplorePlantedFaults activates one fault after the other and explores the programs of
// this package until one fails.
func TestExplorePlantedFaults(t *testing.T) {
	explore.Plant(t, faults, func(t *testing.T) {
		explore.MustFind(t, explored(t, scripts).Programs)
	})
}
