//go:build explore

package linear

import (
	"math/rand/v2"
	"strings"
)

// DrawScript draws the text of a small random script: two or three threads of one to three
// calls each, or four threads of one or two. The first thread only writes.
func DrawScript(r *rand.Rand) string {
	d := &scriptDice{r: r, keys: 1 + r.IntN(maxKeys-1)}
	start, later := "one,many", []string{"maybe"}
	if r.IntN(2) == 0 {
		start, later = "one", []string{"many", "maybe"}
	}
	d.later = later
	var setup []string
	for k := range d.keys {
		if r.IntN(4) > 0 {
			setup = append(setup, "add "+d.object(k))
		}
	}
	if r.IntN(3) == 0 {
		setup = append(setup, "list", "list") // a store that copies blocks for readers has copies then
	}
	threads := make([]string, 2+r.IntN(3))
	for n := range threads {
		calls := make([]string, 1+r.IntN(4-len(threads)/2))
		for i := range calls {
			if n == 0 || r.IntN(3) == 0 {
				calls[i] = d.writing()
			} else {
				calls[i] = d.reading()
			}
		}
		threads[n] = strings.Join(calls, "; ")
	}
	return start + ": " + strings.Join(setup, "; ") + " => " + strings.Join(threads, " | ")
}

type scriptDice struct {
	r     *rand.Rand
	keys  int
	later []string // indexes that AddIndexers may add
}

func (d *scriptDice) pick(of ...string) string { return of[d.r.IntN(len(of))] }
func (d *scriptDice) key() string              { return keyNames[d.r.IntN(d.keys)] }
func (d *scriptDice) value() string            { return d.pick("x", "x", "y", "y", "z") }

func (d *scriptDice) object(key int) string {
	return keyNames[key] + ":" + d.value() + "/" + d.pick("", "x", "xy", "yy", "zxy") + "/" +
		d.pick("", "x", "y") + d.pick("", "", "", "", "!")
}

func (d *scriptDice) some() string { return d.object(d.r.IntN(d.keys)) }

func (d *scriptDice) writing() string {
	switch d.r.IntN(12) {
	case 0, 1, 2, 3:
		return "update " + d.some()
	case 4, 5:
		return "delete " + d.key()
	case 6:
		return "replace " + d.object(0)
	case 7:
		return "bookmark"
	case 8:
		if len(d.later) > 0 {
			name := d.later[0]
			d.later = d.later[1:]
			return "addindexers " + name
		}
		return "add " + d.some()
	case 9:
		return "tx " + d.pick("", "*3 ", "*16 ") + d.some() + " " + d.some() + " " + d.key() + "- " +
			strings.TrimSuffix(d.some(), "!")
	default:
		return "tx " + d.key() + "- " + strings.TrimSuffix(d.some(), "!")
	}
}

func (d *scriptDice) reading() string {
	index := d.pick("one", "one", "many", "maybe")
	return d.pick("get "+d.key(), "get "+d.key(), "list", "list", "keys",
		"byindex "+index+" "+d.value(), "byindex "+index+" "+d.value(),
		"indexkeys "+index+" "+d.value(), "index "+index+" "+d.some(), "values "+index, "version",
		"indexers")
}
