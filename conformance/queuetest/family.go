package queuetest

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
)

// family is a set of goroutines with one profiler label: the goroutines that a function
// starts, and those that these start. Unlike a count of all goroutines, it does not depend
// on the rest of the process.
type family struct{ name string }

const familyLabel = "queuetest-family"

var families atomic.Int64

func newFamily() family { return family{strconv.FormatInt(families.Add(1), 10)} }

// do calls fn on this goroutine, which belongs to the family meanwhile.
func (f family) do(fn func()) {
	pprof.Do(context.Background(), pprof.Labels(familyLabel, f.name), func(context.Context) { fn() })
}

// stacks returns the stacks of the family's goroutines, "" if there are none.
func (f family) stacks() string {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return err.Error()
	}
	label := strconv.Quote(familyLabel) + ":" + strconv.Quote(f.name)
	var out []string
	for _, record := range strings.Split(profile.String(), "\n\n") {
		if strings.Contains(record, label) {
			out = append(out, record)
		}
	}
	return strings.Join(out, "\n\n")
}
