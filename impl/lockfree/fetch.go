package lockfree

import (
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
)

// fetchLen is how many writes of a Transaction, or values of an object, are fetched together.
// It is more than a processor has cache misses under way at once, and so few that the fetched
// lines are still there when the writes come.
const fetchLen = 16

// fetchFrom is the number of objects from which on a Transaction fetches: fewer lie in the cache.
// Without it a Transaction takes 1.2 times as long among 100,000 objects and 1.1 among 30,000; with
// it 1.1 among 1,000.
const fetchFrom = 8192

// fetch brings into the cache what the writes of a part of a Transaction will read, at most
// fetchLen of them, and returns the words of their keys. It changes nothing of the store.
//
// In a large store each step of a write is a cache miss, and its address comes from the step
// before: entry, key, record, bucket, index value. So a single write waits for one miss after
// the other. Here each step is done for all writes before the next step, so the processor
// waits for several misses together. The writes themselves could not be done so: each one has
// atomic stores, which wait for all loads before them.
func (c *core) fetch(txns []contract.StoreTransaction) (words [fetchLen]uint64) {
	for i := range txns {
		words[i] = c.keys.word(txns[i].Key)
	}
	if len(txns) == 1 || c.objects.n < fetchFrom {
		return words
	}
	c.write.fetched += c.keys.fetch(words[:len(txns)])
	var found [fetchLen]*record
	recs := found[:0]
	for i := range txns {
		if _, e := c.keys.find(words[i], txns[i].Key); e != nil {
			recs = append(recs, e.record())
		}
	}
	for _, r := range recs {
		c.write.fetched += uint64(r.few[0].bucket)
	}
	for _, r := range recs {
		for _, p := range c.postings(r)[:min(len(c.postings(r)), indexing.Few)] {
			c.write.fetched += uint64(c.buckets[p.bucket].keyLen)
		}
	}
	for _, r := range recs {
		for _, p := range c.postings(r)[:min(len(c.postings(r)), indexing.Few)] {
			if value := c.buckets[p.bucket].key(); value != "" {
				c.write.fetched += uint64(value[0])
			}
		}
	}
	return words
}

// fetchValues brings into the cache the entries at which the search for values in an index
// begins, for at most fetchLen of them, and returns their words.
func (c *core) fetchValues(x *index, values []string) (words [fetchLen]uint64) {
	for i, value := range values {
		words[i] = x.buckets.word(value)
	}
	if len(values) > 1 {
		c.write.fetched += x.buckets.fetch(words[:len(values)])
	}
	return words
}

// fetchBuckets is fetchValues for the values of buckets.
func (c *core) fetchBuckets(buckets []*bucket) (words [fetchLen]uint64) {
	for i, b := range buckets {
		words[i] = c.indexes[b.ordinal].buckets.word(b.key())
	}
	if len(buckets) > 1 {
		for i, b := range buckets {
			c.write.fetched += c.indexes[b.ordinal].buckets.fetch(words[i : i+1])
		}
	}
	return words
}

// fetch reads the entries at which the searches for words begin, and returns a sum of them.
func (t *table) fetch(words []uint64) (sum uint64) {
	dir := t.dir.Load()
	for _, word := range words {
		entries := dir.entries[word>>(64-dir.depth)]
		sum += entries[home(entries, word)].word.Load()
	}
	return sum
}
