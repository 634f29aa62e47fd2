package benchcmd

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
)

// checked is a flag whose text is parsed and checked by a function. The zero value of into means
// "not given". An explicit 0 is mostly refused: 0 forks must not silently mean the default.
type checked[T comparable] struct {
	into  *T
	kind  string // what the help calls the value
	parse func(text string) (T, error)
	show  func(T) string
}

func (f checked[T]) Type() string { return f.kind }

func (f checked[T]) String() string {
	if zero := *new(T); f.into == nil || *f.into == zero {
		return ""
	}
	return f.show(*f.into)
}

func (f checked[T]) Set(text string) error {
	v, err := f.parse(text)
	if err == nil {
		*f.into = v
	}
	return err
}

// atLeastOne is an integer of 1 or more.
func atLeastOne(into *int) checked[int] {
	return checked[int]{into, "int", func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > math.MaxInt32 {
			return 0, errors.New("want a whole number of 1 or more")
		}
		return n, nil
	}, strconv.Itoa}
}

// seedFlag is a seed of 1 or more.
func seedFlag(into *uint64) checked[uint64] {
	return checked[uint64]{into, "uint", func(text string) (uint64, error) {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n == 0 {
			return 0, errors.New("want a whole number of 1 or more")
		}
		return n, nil
	}, func(n uint64) string { return strconv.FormatUint(n, 10) }}
}

// aboveZero is a finite number above 0.
func aboveZero(into *float64) checked[float64] {
	return checked[float64]{into, "float", func(text string) (float64, error) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return 0, errors.New("want a number above 0, such as 10")
		}
		return v, nil
	}, func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }}
}

// longerThanZero is a duration above 0.
func longerThanZero(into *time.Duration) checked[time.Duration] {
	return checked[time.Duration]{into, "duration", func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return 0, errors.New("want a time of more than 0, such as 500ms or 10m")
		}
		return d, nil
	}, time.Duration.String}
}

// wholeNumber is an integer within bounds that has no default.
func wholeNumber(into *int, least, most int) checked[int] {
	return checked[int]{into, "N", func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("want a whole number, %d to %s", least, humanize.Comma(int64(most)))
		}
		return n, nil
	}, func(int) string { return "" }}
}
