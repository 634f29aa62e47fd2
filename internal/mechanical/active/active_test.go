package active

import (
	"fmt"
	"slices"
	"testing"
)

// with is the result of f while the mutant is active.
func with(id int, f func() any) any {
	mutant = id
	defer func() { mutant = 0 }()
	return f()
}

// Each function is the original code without a mutant, and each of its mutants differs.
func TestMutantsDiffer(t *testing.T) {
	yes := func() bool { return true }
	no := func() bool { return false }
	for name, c := range map[string]struct {
		f    func() any
		want []any // without a mutant, and with each one
	}{
		"On":           {func() any { return On(5) }, []any{true, false}},
		"Is":           {func() any { return Is(5) }, []any{false, true}},
		"Cond":         {func() any { return Cond(5, false) }, []any{false, true, false, true}},
		"Not":          {func() any { return Not(5, true) }, []any{false, true}},
		"Flip":         {func() any { return Flip(5, true) }, []any{true, false}},
		"And":          {func() any { return And(5, true, no) }, []any{false, true, true, false}},
		"Or":           {func() any { return Or(5, false, yes) }, []any{true, false, false, true}},
		"Less":         {func() any { return Less(5, 2, 2) }, []any{false, true, true}},
		"LessEqual":    {func() any { return LessEqual(5, 2, 2) }, []any{true, false, false}},
		"Greater":      {func() any { return Greater(5, 3, 2) }, []any{true, true, false}},
		"GreaterEqual": {func() any { return GreaterEqual(5, 2, 2) }, []any{true, false, false}},
		"Num":          {func() any { return Num(5, 7) }, []any{7, 8, 6, 0}},
		"Add":          {func() any { return Add(5, 7, 2) }, []any{9, 5}},
		"Sub":          {func() any { return Sub(5, 7, 2) }, []any{5, 9}},
		"Mul":          {func() any { return Mul(5, 7, 2) }, []any{14, 3}},
		"Div":          {func() any { return Div(5, 7, 2) }, []any{3, 14}},
		"Rem":          {func() any { return Rem(5, 7, 4) }, []any{3, 28}},
		"BitAnd":       {func() any { return BitAnd(5, 6, 3) }, []any{2, 7}},
		"BitOr":        {func() any { return BitOr(5, 6, 3) }, []any{7, 2}},
		"Xor":          {func() any { return Xor(5, 6, 3) }, []any{5, 2}},
		"AndNot":       {func() any { return AndNot(5, 6, 3) }, []any{4, 2}},
		"Shl":          {func() any { return Shl(5, 8, 1) }, []any{16, 4}},
		"Shr":          {func() any { return Shr(5, 8, 1) }, []any{4, 16}},
		"Neg":          {func() any { return Neg(5, 3) }, []any{3, -3}},
		"Fn":           {func() any { return Fn(5, yes, no)() }, []any{true, false}},
	} {
		if got := with(4, c.f); got != c.want[0] {
			t.Errorf("%s with the mutant of another place gives %v, want %v", name, got, c.want[0])
		}
		for i, want := range c.want {
			id := 0
			if i > 0 {
				id = 4 + i
			}
			if got := with(id, c.f); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s with mutant %d gives %v, want %v", name, i, got, want)
			}
		}
	}
}

func TestTraceTellsThePlaces(t *testing.T) {
	TakeReached()
	tracing = true
	defer func() { tracing = false }()
	On(3)
	Cond(9, true)
	On(3)
	if got := TakeReached(); !slices.Equal(got, []int{3, 9}) {
		t.Errorf("%v, want the two places", got)
	}
	if id, trace := chosen("trace"); id != 0 || !trace {
		t.Errorf("%d %v", id, trace)
	}
	if id, trace := chosen("12"); id != 12 || trace {
		t.Errorf("%d %v", id, trace)
	}
}
