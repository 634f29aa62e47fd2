package packed

import (
	"encoding/binary"

	"github.com/klauspost/compress/s2"
)

// train makes the next generation from samples. It returns nil if that packs no better than the
// current one, by the samples that it did not learn from.
func (g *group) train(samples []sample) *generation {
	old := g.current.Load()
	next := &generation{group: g}
	next.words = g.info.codec.words(samples)
	encoded := make([][]byte, 0, len(samples))
	for _, s := range samples {
		raw, ok := g.info.codec.reencode(s, next.words)
		if !ok {
			return nil
		}
		encoded = append(encoded, raw)
	}
	var learn [][]byte
	held := func(i int) bool { return old.dictionary != nil && i%4 == 3 }
	for i, raw := range encoded {
		if !held(i) {
			learn = append(learn, raw)
		}
	}
	content := repeated(learn, s2.MaxDictSize)
	if next.dictionary = s2.MakeDict(content, learn[0]); next.dictionary == nil {
		return nil
	}
	var before, after int
	for i, s := range samples {
		if held(i) {
			before += len(old.compress(nil, s.raw))
			after += len(next.compress(nil, encoded[i]))
		}
	}
	if float64(after) > float64(before)*better {
		return nil
	}
	return next
}

const (
	gramBits = 17
	gramSize = 8 // bytes that are compared by their hash
	leastRun = 8 // grams: shorter runs cost more to refer to than they save
)

// repeated returns at most limit bytes that hold, once each, the passages of at least 16 bytes
// that samples have in common: first those of a quarter of them, at last those of two. Hashes
// stand for passages; where two collide, a passage is missing or superfluous.
func repeated(samples [][]byte, limit int) []byte {
	var (
		count  [1 << gramBits]uint16 // samples that have the gram
		newest [1 << gramBits]uint16 // of them
		taken  [1 << gramBits]bool
		out    []byte
	)
	hash := func(s []byte) uint64 {
		return binary.LittleEndian.Uint64(s) * 0x9e3779b97f4a7c15 >> (64 - gramBits)
	}
	for n, s := range samples {
		for i := 0; i+gramSize <= len(s); i++ {
			if h := hash(s[i:]); newest[h] != uint16(n+1) {
				newest[h] = uint16(n + 1)
				count[h]++
			}
		}
	}
	for _, share := range []int{4, 16, len(samples)} {
		least := uint16(max(2, len(samples)/share))
		if len(samples) == 1 {
			least = 1
		}
		for _, s := range samples {
			start := 0
			for i := 0; i+gramSize <= len(s)+1; i++ {
				if i+gramSize <= len(s) {
					if h := hash(s[i:]); count[h] >= least && !taken[h] {
						continue
					}
				}
				if i-start >= leastRun {
					run := s[start : i-1+gramSize]
					if len(out)+len(run) > limit {
						return out
					}
					out = append(out, run...)
					for j := start; j < i; j++ {
						taken[hash(s[j:])] = true
					}
				}
				start = i + 1
			}
		}
	}
	return out
}
