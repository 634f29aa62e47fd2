package benchcmd

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/informerbench/informerbench/bench/runner"
)

// The zero value of the flags below means "not given". An explicit 0 is refused, but for a
// budget: 0 forks or 0 processors must not silently mean the default.

// atLeastOne is an integer of 1 or more.
type atLeastOne struct{ into *int }

func (atLeastOne) Type() string     { return "int" }
func (f atLeastOne) String() string { return given(f.into, strconv.Itoa) }

func (f atLeastOne) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > math.MaxInt32 {
		return errors.New("want a whole number of 1 or more")
	}
	*f.into = n
	return nil
}

// seedFlag is a seed of 1 or more.
type seedFlag struct{ into *uint64 }

func (seedFlag) Type() string { return "uint" }
func (f seedFlag) String() string {
	return given(f.into, func(v uint64) string { return strconv.FormatUint(v, 10) })
}

func (f seedFlag) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		return errors.New("want a whole number of 1 or more")
	}
	*f.into = n
	return nil
}

// aboveZero is a finite number above 0.
type aboveZero struct{ into *float64 }

func (aboveZero) Type() string { return "float" }
func (f aboveZero) String() string {
	return given(f.into, func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) })
}

func (f aboveZero) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return errors.New("want a number above 0, such as 10")
	}
	*f.into = v
	return nil
}

// longerThanZero is a duration above 0.
type longerThanZero struct{ into *time.Duration }

func (longerThanZero) Type() string     { return "duration" }
func (f longerThanZero) String() string { return given(f.into, time.Duration.String) }

func (f longerThanZero) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return errors.New("want a time of more than 0, such as 500ms or 10m")
	}
	*f.into = d
	return nil
}

// budgetFlag is a run's budget. 0 means none; without the flag it is the preset's.
type budgetFlag struct{ of *runner.Options }

func (budgetFlag) Type() string { return "duration" }
func (f budgetFlag) String() string {
	if f.of == nil {
		return ""
	}
	return given(&f.of.Budget, time.Duration.String)
}

func (f budgetFlag) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("want a time of 0 or more, such as 10m")
	}
	f.of.Budget, f.of.NoBudget = d, d == 0
	return nil
}

// given formats a value that was set, and returns "" for one that was not.
func given[T comparable](v *T, show func(T) string) string {
	var zero T
	if v == nil || *v == zero {
		return ""
	}
	return show(*v)
}
