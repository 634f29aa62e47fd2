package catalog

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Extend adds entries to the catalog, each after those of its component. It may be called
// once, before anything reads the catalog: the first read seals it, so that all parts of a
// program see the same entries. It calls no constructor. The error names every entry that
// is wrong, what is wrong with it and what is allowed; then nothing is added.
func Extend(entries ...Entry) error { return extra.extend(entries) }

// ErrSealed is the error of Extend after the catalog was extended or read.
var ErrSealed = errors.New(
	"the catalog has been extended or read already: give all entries to one call of " +
		"catalog.Extend, before anything reads the catalog")

// extra holds the entries that Extend added.
var extra additions

// additions are entries that can be added until they are read.
type additions struct {
	mu struct {
		sync.Mutex
		sealed  bool
		entries []Entry
	}
}

func (a *additions) extend(entries []Entry) error {
	if err := check(builtIn(), entries); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mu.sealed {
		return ErrSealed
	}
	a.mu.entries, a.mu.sealed = slices.Clone(entries), true
	return nil
}

// read seals the additions and returns them. The slice must not be changed.
func (a *additions) read() []Entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.sealed = true
	return a.mu.entries
}

// check says what is wrong with entries that are to stand beside those that are there.
func check(there, entries []Entry) error {
	var errs []error
	for i, e := range entries {
		if err := e.Check(); err != nil {
			errs = append(errs, err)
		}
		for _, other := range slices.Concat(there, entries[:i]) {
			// Names are parts of file names, and some file systems ignore the case.
			if other.Component == e.Component && strings.EqualFold(other.Name, e.Name) {
				errs = append(errs, fmt.Errorf("%s: the name is taken by %s (%s): choose another", e.ID(),
					other.ID(), other.Description))
			}
		}
	}
	return errors.Join(errs...)
}

// nameForm is the form of names: they stand in file names, in benchmark names between / and
// =, and in lists of globs with commas.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)

// secondCopy ends the names of files about the second copy of a reference (record.Cell.FileName).
const secondCopy = "-aa"

// constructor returns the constructor that e has for a component; it may be nil.
func (e Entry) constructor(c contract.Component) any {
	return map[contract.Component]any{
		contract.ComponentStore: e.NewStore, contract.ComponentFIFO: e.NewFIFO,
		contract.ComponentDelay: e.NewDelay,
		contract.ComponentQueue: e.NewQueue, contract.ComponentLimiter: e.NewLimiter,
		contract.ComponentInformer: e.NewInformer, contract.ComponentObjects: e.NewKeeper,
	}[c]
}

// Check says what is wrong with an entry from outside by itself, without calling its
// constructor. The error names all that is wrong, and what is allowed.
func (e Entry) Check() error {
	if order(e.Component) < 0 {
		return fmt.Errorf("%s: unknown component %q: want one of %v", e.ID(), e.Component, components)
	}
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %w", e.ID(), fmt.Errorf(format, args...)))
	}
	if !nameForm.MatchString(e.Name) {
		wrong("%q is no name: want up to 64 letters, digits, and . _ + -, with a letter or digit first",
			e.Name)
	}
	if strings.HasSuffix(e.Name, secondCopy) {
		wrong("%q ends in %s, as the files of a reference's second copy do: choose another", e.Name,
			secondCopy)
	}
	for _, line := range []struct{ what, text, example string }{
		{"description", e.Description,
			`Description("one RWMutex over a radix tree: ByIndex without allocations")`},
		{"guarantees", e.Guarantees, `Guarantees("the whole contract")`},
	} {
		if strings.TrimSpace(line.text) == "" || strings.ContainsFunc(line.text, unicode.IsControl) {
			wrong("it needs %s of one line, which every list and report prints, such as %s", line.what,
				line.example)
		}
	}
	if e.Module == "" {
		wrong("it needs Module, the module path of its code")
	}
	for _, c := range components {
		switch set := !reflect.ValueOf(e.constructor(c)).IsNil(); {
		case c == e.Component && !set:
			wrong("it has no constructor: want a function that makes a %s", c)
		case c != e.Component && set:
			wrong("it has the constructor of a %s: make an entry for each component", c)
		}
	}
	if e.Reference {
		wrong("Reference is set: the reference is client-go's; benchrun report --reference %s=%s "+
			"compares with this one", e.Component, e.Name)
	}
	if (e.Component == contract.ComponentFIFO) != slices.Contains(contract.FIFOClasses(),
		e.FIFOClass) {
		wrong("FIFO class %q: want one of %v for a FIFO, and none for others", e.FIFOClass,
			contract.FIFOClasses())
	}
	for _, w := range e.Waivers {
		if clause, err := contract.LookupClause(w.Clause); err == nil && clause.Component != e.Component {
			wrong("it waives %s, which is a rule for a %s", w.Clause, clause.Component)
		}
	}
	if _, err := suite.NewConfig(e.options()); err != nil {
		wrong("%w", err)
	}
	return errors.Join(errs...)
}

// Try calls the entry's constructor once and shuts down what it makes. The error says that
// the constructor panics, and where, or that it returns nil.
func (e Entry) Try() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: its constructor panics%s: %v", e.ID(), panicked(), p)
		}
	}()
	made := e.construct()
	if v := reflect.ValueOf(made); made == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return fmt.Errorf("%s: its constructor returns nil: want a new %s", e.ID(), e.Component)
	}
	switch made := made.(type) {
	case interface{ ShutDown() }:
		made.ShutDown()
	case interface{ Close() }:
		made.Close()
	}
	return nil
}

// construct makes one component, as plain as possible.
func (e Entry) construct() any {
	switch e.Component {
	case contract.ComponentStore:
		return e.NewStore(contract.Indexers{})
	case contract.ComponentFIFO:
		return e.NewFIFO(contract.FIFOConfig{KeyFunc: cache.MetaNamespaceKeyFunc})
	case contract.ComponentDelay:
		return e.NewDelay()
	case contract.ComponentQueue:
		return e.NewQueue(clock.RealClock{})
	case contract.ComponentLimiter:
		return e.NewLimiter()
	case contract.ComponentObjects:
		return e.NewKeeper()
	default:
		return e.NewInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, contract.Indexers{})
	}
}

// panicked says where the panic began that a deferred function recovered; "" if that is not
// to be found.
func panicked() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for panicking := false; ; {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicking = true
		case panicking && !strings.HasPrefix(f.Function, "runtime."):
			return fmt.Sprintf(" at %s:%d", f.File, f.Line)
		}
		if !more {
			return ""
		}
	}
}
