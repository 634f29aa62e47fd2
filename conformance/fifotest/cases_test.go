package fifotest

import (
	"strings"
	"testing"

	"github.com/informerbench/informerbench/contract"
)

// TestEveryClauseHasACase: a clause without a test is no promise.
func TestEveryClauseHasACase(t *testing.T) {
	t.Parallel()
	tested, names := map[string]bool{}, map[string]bool{}
	for _, c := range cases() {
		tested[c.Clause] = true
		if name := c.Clause + "/" + c.Name; names[name] {
			t.Errorf("two cases are called %s", name)
		} else {
			names[name] = true
		}
	}
	for _, c := range contract.ClausesOf(contract.ComponentFIFO) {
		if !tested[c.ID] {
			t.Errorf("no case tests %s", c)
		}
	}
}

func TestUnknownClassIsNamed(t *testing.T) {
	t.Parallel()
	if err := Check(nil, Class("sorted")); err == nil ||
		!strings.Contains(err.Error(), `Class("sorted")`) ||
		!strings.Contains(err.Error(), "coalescing") {
		t.Errorf("got %v, want the class and those that there are", err)
	}
}
