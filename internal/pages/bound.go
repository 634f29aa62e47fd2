package pages

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// bound is what is asked of a number: "at most 0.80", "at least 2", or "at most 1ms" of a duration.
type bound struct {
	text  string
	least bool // the number is to be the bound or more
	value float64
	timed bool
}

// bounds reads what a table asks, by its rows. It is nil where the table asks nothing.
func (t *spec) bounds() (map[string]bound, error) {
	if len(t.Asked) == 0 {
		return nil, nil
	}
	rows := map[string]bool{}
	for _, r := range t.Rows {
		rows[r.label] = true
	}
	out := map[string]bound{}
	for _, a := range t.Asked {
		if !rows[a.label] {
			return nil, fmt.Errorf("asked: %s: no row has this label", a.label)
		}
		b, err := parseBound(a.text)
		if err != nil {
			return nil, fmt.Errorf("asked: %s: %w", a.label, err)
		}
		out[a.label] = b
	}
	return out, nil
}

func parseBound(text string) (bound, error) {
	b := bound{text: text}
	value, most := strings.CutPrefix(text, "at most ")
	if !most {
		value, b.least = strings.CutPrefix(text, "at least ")
	}
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		var d time.Duration
		d, err = time.ParseDuration(value)
		number, b.timed = float64(d), true
	}
	if err != nil || !most && !b.least {
		return b, fmt.Errorf(`%q: want "at most 0.80", "at least 2", or "at most 1ms"`, text)
	}
	b.value = number
	return b, nil
}

// verdict says whether a number meets its bound: its whole interval does, or does not, or the bound
// lies within the interval. There is none where nothing is asked or measured.
func (b bound) verdict(f figure) (string, error) {
	if b.text == "" || f.alone == "" {
		return unmeasured, nil
	}
	if b.timed != f.timed {
		return "", fmt.Errorf("asked: %s: the number is %s", b.text, f.alone)
	}
	meets := func(v float64) bool { return v == b.value || (v > b.value) == b.least }
	switch lo, hi := meets(f.lo), meets(f.hi); {
	case lo && hi:
		return "yes", nil
	case lo || hi:
		return "not settled", nil
	}
	return "no", nil
}
