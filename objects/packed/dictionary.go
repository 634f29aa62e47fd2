package packed

import "github.com/klauspost/compress/s2"

// sample is an encoded object and the generation that it was encoded with.
type sample struct {
	raw  []byte
	made *generation
}

// train makes the next generation from samples. It returns nil if that packs no better than the
// current one, by the samples that it did not learn from.
func (g *group) train(records []*record) *generation {
	old := g.current.Load()
	var samples []sample
	for _, r := range records {
		_, _, _, packed := r.parts()
		if raw, err := r.made.decompress(nil, packed); err == nil {
			samples = append(samples, sample{raw, r.made})
		}
	}
	next := &generation{group: g}
	if tree, ok := g.codec.(treeCodec); ok {
		next.words = tree.words(samples)
	}
	var learn, before, after []sample
	for i, s := range samples {
		again := sample{s.raw, next}
		if next.words != nil {
			again = treeCodec{}.reencode(s, next)
		}
		if old.dictionary != nil && i%4 == 3 {
			before, after = append(before, s), append(after, again)
		} else {
			learn = append(learn, again)
		}
	}
	// An encoded object most often starts as another does.
	next.dictionary = s2.MakeDictManual(typical(learn, s2.MaxDictSize), 0)
	if next.dictionary == nil || float64(size(after)) > float64(size(before))*better {
		return nil
	}
	return next
}

// size returns the bytes of samples when compressed.
func size(samples []sample) (n int) {
	for _, s := range samples {
		n += len(s.made.compress(nil, s.raw))
	}
	return n
}

// typical joins samples, spread evenly over all of them, to at most limit bytes. Whole objects
// serve better than the passages that objects have in common: see the package comment.
func typical(samples []sample, limit int) []byte {
	total := 0
	for _, s := range samples {
		total += len(s.raw)
	}
	step := max(1, (total+limit-1)/limit)
	var out []byte
	for first := range step {
		for i := first; i < len(samples); i += step {
			if raw := samples[i].raw; len(out)+len(raw) <= limit {
				out = append(out, raw...)
			}
		}
	}
	return out
}
