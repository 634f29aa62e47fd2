// Package active contains the functions that instrumented code calls. Package mechanical
// rewrites a package so that all its mutants are in one binary; this package decides which
// one is active.
//
// Each function gets the number of the first of its mutants and evaluates its operands
// once, as the original code does. The environment variable MECHANICAL_MUTANT is the number
// of the active mutant; 0 or "" leaves the original code. With "trace" no mutant is active,
// and TakeReached returns the mutants whose places were reached.
package active

import (
	"cmp"
	"os"
	"strconv"
	"sync/atomic"
)

// Env names the environment variable that chooses the mutant.
const Env = "MECHANICAL_MUTANT"

// Most bounds the numbers of mutants.
const Most = 1 << 14

var (
	mutant, tracing = chosen(os.Getenv(Env))
	reached         [Most]atomic.Bool
)

func chosen(env string) (id int, trace bool) {
	if env == "trace" {
		return 0, true
	}
	id, _ = strconv.Atoi(env)
	return id, false
}

// TakeReached returns the places that were reached since the last call, each as the number
// of its first mutant.
func TakeReached() (ids []int) {
	for id := range reached {
		if reached[id].Swap(false) {
			ids = append(ids, id)
		}
	}
	return ids
}

// which returns the active variant at the place whose mutants are numbered from id: 0 for
// the original code, 1 for its first mutant and so on.
func which(id int) int {
	if tracing {
		reached[id].Store(true)
	}
	return mutant - id + 1
}

// On reports whether a statement runs. One mutant: it does not.
func On(id int) bool { return which(id) != 1 }

// Is reports whether the mutant is active. One mutant: another statement runs instead.
func Is(id int) bool { return which(id) == 1 }

// Cond is a condition. Three mutants: true, false, and its negation.
func Cond(id int, c bool) bool {
	switch which(id) {
	case 1:
		return true
	case 2:
		return false
	case 3:
		return !c
	}
	return c
}

// Not is the operand of a "!"; its one mutant leaves the "!" out.
func Not(id int, c bool) bool {
	if which(id) == 1 {
		return c
	}
	return !c
}

// Flip is a bool. One mutant: its negation.
func Flip(id int, b bool) bool { return b != (which(id) == 1) }

// And is a && b. Three mutants: ||, the left operand alone, the right one alone.
func And(id int, a bool, b func() bool) bool {
	switch which(id) {
	case 1:
		return a || b()
	case 2:
		return a
	case 3:
		return b()
	}
	return a && b()
}

// Or is a || b. Three mutants: &&, the left operand alone, the right one alone.
func Or(id int, a bool, b func() bool) bool {
	switch which(id) {
	case 1:
		return a && b()
	case 2:
		return a
	case 3:
		return b()
	}
	return a || b()
}

// Less is a < b. Two mutants: <= and >=.
func Less[T cmp.Ordered](id int, a, b T) bool {
	switch which(id) {
	case 1:
		return a <= b
	case 2:
		return a >= b
	}
	return a < b
}

// LessEqual is a <= b. Two mutants: < and >.
func LessEqual[T cmp.Ordered](id int, a, b T) bool {
	switch which(id) {
	case 1:
		return a < b
	case 2:
		return a > b
	}
	return a <= b
}

// Greater is a > b. Two mutants: >= and <=.
func Greater[T cmp.Ordered](id int, a, b T) bool { return Less(id, b, a) }

// GreaterEqual is a >= b. Two mutants: > and <.
func GreaterEqual[T cmp.Ordered](id int, a, b T) bool { return LessEqual(id, b, a) }

type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type number interface{ integer | ~float32 | ~float64 }

// Num is a number. Up to three mutants: one more, one less, zero.
func Num[T number](id int, n T) T {
	switch which(id) {
	case 1:
		return n + 1
	case 2:
		return n - 1
	case 3:
		return 0
	}
	return n
}

// Add is a + b; its mutant is a - b.
func Add[T number](id int, a, b T) T {
	if which(id) == 1 {
		return a - b
	}
	return a + b
}

// Sub is a - b; its mutant is a + b.
func Sub[T number](id int, a, b T) T {
	if which(id) == 1 {
		return a + b
	}
	return a - b
}

// Mul is a * b; its mutant is a / b, or a if b is 0.
func Mul[T number](id int, a, b T) T {
	if which(id) == 1 {
		if b == 0 {
			return a
		}
		return a / b
	}
	return a * b
}

// Div is a / b; its mutant is a * b.
func Div[T number](id int, a, b T) T {
	if which(id) == 1 {
		return a * b
	}
	return a / b
}

// Rem is a % b; its mutant is a * b.
func Rem[T integer](id int, a, b T) T {
	if which(id) == 1 {
		return a * b
	}
	return a % b
}

// BitAnd is a & b; its mutant is a | b.
func BitAnd[T integer](id int, a, b T) T {
	if which(id) == 1 {
		return a | b
	}
	return a & b
}

// BitOr is a | b; its mutant is a & b.
func BitOr[T integer](id int, a, b T) T {
	if which(id) == 1 {
		return a & b
	}
	return a | b
}

// Xor is a ^ b; its mutant is a & b.
func Xor[T integer](id int, a, b T) T {
	if which(id) == 1 {
		return a & b
	}
	return a ^ b
}

// AndNot is a &^ b; its mutant is a & b.
func AndNot[T integer](id int, a, b T) T {
	if which(id) == 1 {
		return a & b
	}
	return a &^ b
}

// Shl is a << n; its mutant is a >> n.
func Shl[T, N integer](id int, a T, n N) T {
	if which(id) == 1 {
		return a >> n
	}
	return a << n
}

// Shr is a >> n; its mutant is a << n.
func Shr[T, N integer](id int, a T, n N) T {
	if which(id) == 1 {
		return a << n
	}
	return a >> n
}

// Neg is the right side of += or -=; its mutant turns one into the other.
func Neg[T number](id int, n T) T {
	if which(id) == 1 {
		return -n
	}
	return n
}

// Fn is a called function; its mutant calls another one of the same signature.
func Fn[F any](id int, f, other F) F {
	if which(id) == 1 {
		return other
	}
	return f
}
