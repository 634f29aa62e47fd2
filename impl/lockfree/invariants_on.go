//go:build race || invariants

package lockfree

// checker checks the store after writes, in tests of this package.
type checker struct{ invariants invariants }

type invariants interface {
	checkSome(v *view) // after a write of a few objects
	checkAll(v *view)
}

// newInvariants is set by this package's tests; elsewhere it is nil, and nothing is checked.
var newInvariants func() invariants

func (v *view) checkSome() { v.checked(invariants.checkSome) }
func (v *view) checkAll()  { v.checked(invariants.checkAll) }

func (v *view) checked(check func(invariants, *view)) {
	if newInvariants == nil {
		return
	}
	if v.checker.invariants == nil {
		v.checker.invariants = newInvariants()
	}
	check(v.checker.invariants, v)
}
