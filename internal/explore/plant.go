package explore

import (
	"fmt"
	"strings"
	"testing"
)

// Fault is a mistake that the explorer must find. Instrument plants it in its copy of a source
// file, so that the file itself contains no fault.
type Fault struct {
	Name string
	File string // in the folder of the test
	// Edits are pairs of a text that occurs in File exactly once, and its replacement. The
	// replacement calls explore.Planted(Name), and changes nothing while that is false.
	Edits [][2]string
}

var (
	faults  []Fault // of this test binary
	planted string  // the name of the active one
)

// Faults registers faults with Instrument. Call it in the declaration of a variable.
func Faults(some []Fault) []Fault {
	faults = append(faults, some...)
	return some
}

// Planted reports whether the fault with this name is active.
func Planted(name string) bool { return planted == name }

// Plant activates one registered fault after the other and calls find, which must find it.
func Plant(t *testing.T, some []Fault, find func(t *testing.T)) {
	t.Helper()
	for _, f := range some {
		t.Run(f.Name, func(t *testing.T) {
			planted = f.Name
			defer func() { planted = "" }()
			find(t)
		})
	}
}

// edit makes the edits of f in text.
func (f Fault) edit(text string) (string, error) {
	for _, e := range f.Edits {
		if n := strings.Count(text, e[0]); n != 1 {
			return "", fmt.Errorf(
				"fault %q cannot be planted: %q stands in %s %d times; adapt it to the code", f.Name, e[0],
				f.File, n)
		}
		text = strings.Replace(text, e[0], e[1], 1)
	}
	return text, nil
}
