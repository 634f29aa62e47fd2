package report

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// flameBudget bounds the JSON of all flame graphs of a page, in bytes, so that the page of
// the default run stays below 1 MB.
const flameBudget = 300 << 10

// flameShares are the shares of a profile below which a call is not drawn. The smallest one
// is taken with which the page's graphs fit flameBudget.
var flameShares = []float64{0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1}

// flameData is what the page's script draws (flame.js).
type flameData struct {
	// Names are the functions of all graphs; Kinds has the kind of each, a letter per name.
	Names []string    `json:"names"`
	Kinds string      `json:"kinds"`
	Cells []flameCell `json:"cells"`
}

type flameCell struct {
	Label string `json:"label"` // the implementation
	// Against is the reference's place in Cells; the reference has -1.
	Against int        `json:"against"`
	CPU     *flameTree `json:"cpu"`
	Allocs  *flameTree `json:"allocs"`
}

// flameTree is a profile's tree of calls.
type flameTree struct {
	Unit    int64   `json:"unit"` // ns or bytes: of Total and of Tree's values
	Total   int64   `json:"total"`
	Samples float64 `json:"samples"` // effective number
	// Tree holds three numbers for each call, in depth-first order: its depth from 0, its
	// name's place in Names, and its value with its callees'.
	Tree []int64 `json:"tree"`
}

// cellCalls are the profiles of one cell, before they are encoded.
type cellCalls struct {
	label   string
	against int
	cellProfiles
}

// encodeFlames encodes the cells' profiles within the budget. It returns the share below
// which calls were summed up, and nil if there are too many cells for any share.
func encodeFlames(cells []cellCalls, budget int) (*flameData, float64, error) {
	for _, share := range flameShares {
		e := flameEncoder{places: map[string]int64{}, share: share}
		for _, c := range cells {
			e.data.Cells = append(e.data.Cells,
				flameCell{c.label, c.against, e.tree(c.cpu), e.tree(c.allocs)})
		}
		text, err := json.Marshal(e.data)
		if err != nil {
			return nil, 0, err
		}
		if len(text) <= budget {
			return &e.data, share, nil
		}
	}
	return nil, 0, nil
}

type flameEncoder struct {
	data   flameData
	places map[string]int64 // in data.Names
	share  float64
}

// finest is how many units a profile's total has at most. More digits would not show.
const finest = 100_000

func (e *flameEncoder) tree(c *calls) *flameTree {
	if c == nil {
		return nil
	}
	unit := max(divisor(c.root, 0), 1+(c.root.value-1)/finest)
	t := &flameTree{Unit: unit, Total: c.root.value / unit,
		Samples: float64(int64(10*c.samples())) / 10}
	e.callees(t, c.root, 0, max(unit, int64(e.share*float64(c.root.value))))
	return t
}

// callees appends the callees of a call, the largest first. Those below least become one.
func (e *flameEncoder) callees(t *flameTree, of *call, depth, least int64) {
	other := int64(0)
	for _, c := range slices.SortedFunc(maps.Values(of.callees), func(a, b *call) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.name, b.name))
	}) {
		if c.value < least {
			other += c.value
			continue
		}
		t.Tree = append(t.Tree, depth, e.place(c.name), c.value/t.Unit)
		e.callees(t, c, depth+1, least)
	}
	// Left out, they would pass for the caller's own time.
	if other/t.Unit > 0 {
		t.Tree = append(t.Tree, depth, e.place(otherName), other/t.Unit)
	}
}

func (e *flameEncoder) place(name string) int64 {
	at, known := e.places[name]
	if !known {
		at = int64(len(e.data.Names))
		e.places[name] = at
		e.data.Names = append(e.data.Names, name)
		e.data.Kinds += string(kindOf(name))
	}
	return at
}

// divisor is the greatest common divisor of d and all values from c on: the time between two
// samples of a CPU profile, which makes its numbers short.
func divisor(c *call, d int64) int64 {
	for a, b := d, c.value; ; a, b = b, a%b {
		if b == 0 {
			d = a
			break
		}
	}
	for _, callee := range c.callees {
		if d == 1 {
			break
		}
		d = divisor(callee, d)
	}
	return d
}
