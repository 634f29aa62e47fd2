package lockfree

import (
	"slices"

	"github.com/informerbench/informerbench/impl/indexing"
)

// Postings: where in the buckets of the indexes an object lies. All of it is the writer's.

// posting is one place of an object in a bucket. The zero value is none.
type posting struct {
	bucket uint32 // its id, from 1 up
	pos    uint32
}

// postings holds the places of an object that has more of them than fit into few.
type postings struct {
	list []posting
	at   map[uint32]int // positions in list, by bucket id; made by the first postingIn of a long list
}

// wideMark is the bucket in a record's first posting if its postings are in core.wide: pos is then
// where.
const wideMark = ^uint32(0)

// more returns the postings of a record that has many, nil for another.
func (c *core) more(r *record) *postings {
	if r.few[0].bucket != wideMark {
		return nil
	}
	return c.wide[r.few[0].pos]
}

// widen moves r's postings into core.wide, with room for more of them.
func (c *core) widen(r *record) *postings {
	more := &postings{list: slices.Grow(slices.Clone(c.postings(r)), 1)}
	pos := uint32(len(c.wide))
	if last := len(c.freeWide) - 1; last >= 0 {
		pos = c.freeWide[last]
		c.freeWide = c.freeWide[:last]
		c.wide[pos] = more
	} else {
		c.wide = append(c.wide, more)
	}
	r.few = [len(r.few)]posting{{wideMark, pos}}
	return more
}

// narrow is the reverse.
func (c *core) narrow(r *record) {
	pos := r.few[0].pos
	list := c.wide[pos].list
	c.wide[pos] = nil
	c.freeWide = append(c.freeWide, pos)
	r.few = [len(r.few)]posting{}
	copy(r.few[:], list)
}

// postings returns the places of r's object in the buckets of the indexes.
func (c *core) postings(r *record) []posting {
	if more := c.more(r); more != nil {
		return more.list
	}
	n := 0
	for n < len(r.few) && r.few[n].bucket != 0 {
		n++
	}
	return r.few[:n]
}

// postingIn returns the posting in a bucket; the object must be in it. O(1), except for
// the first call for a record of many postings, which is O(postings).
func (c *core) postingIn(r *record, bucket uint32) *posting {
	all := c.postings(r)
	if len(all) <= indexing.Few {
		return &all[slices.IndexFunc(all, func(p posting) bool { return p.bucket == bucket })]
	}
	more := c.more(r)
	if more.at == nil {
		more.at = make(map[uint32]int, len(all))
		for i, p := range all {
			more.at[p.bucket] = i
		}
	}
	return &all[more.at[bucket]]
}

func (c *core) addPosting(r *record, p posting) {
	more := c.more(r)
	if more == nil {
		if n := len(c.postings(r)); n < len(r.few) {
			r.few[n] = p
			return
		}
		more = c.widen(r)
	}
	if more.at != nil {
		more.at[p.bucket] = len(more.list)
	}
	more.list = append(more.list, p)
}

// dropPosting puts the last posting in the place of the i-th.
func (c *core) dropPosting(r *record, i int) {
	all := c.postings(r)
	last := len(all) - 1
	dropped := all[i].bucket
	all[i] = all[last]
	more := c.more(r)
	if more == nil {
		all[last] = posting{}
		return
	}
	more.list = all[:last]
	if more.at != nil {
		more.at[all[i].bucket] = i
		delete(more.at, dropped)
	}
}

// fitPostings gives back the room of many postings if over three quarters of it are free. Call it
// at the end of a change: in between, an object that has new values may have few postings.
func (c *core) fitPostings(r *record) {
	more := c.more(r)
	switch {
	case more == nil || cap(more.list) <= 4*len(more.list):
	case len(more.list) > len(r.few):
		*more = postings{list: slices.Clone(more.list)} // postingIn makes another map
	default:
		c.narrow(r)
	}
}
