package metamorphic

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informerbench/informerbench/contract"
)

// The indexes of a history, in the order in which stores get them. An object has
// values of its own in each, whether or not a store has the index yet.
const (
	namespace = iota // exactly one value of a few
	node             // one of many that come and go, or none
	labels           // none, several, or one twice
	owner            // one that at most two objects have
	phase            // one of three
	rare             // mostly none, sometimes one, which may be ""
	indexCount
)

// atFirst is the number of indexes that a store is made with. The others come later.
const atFirst = 2

// unknownIndex is an index that no store ever has.
const unknownIndex = "no-such-index"

var indexNames = [indexCount]string{"namespace", "node", "labels", "owner", "phase", "rare"}

func indexNumber(name string) int { return slices.Index(indexNames[:], name) }

// object is the object that histories store. It carries its own index values, so that the
// content of every index can be read off the objects.
type object struct {
	id     int // unique in the history
	values [indexCount][]string
	// version is its resource version, "" for an object without metadata.
	version string
	// poison is the index whose function fails on the object, -1 for none. panics says that
	// it fails by a panic and not by an error.
	poison int
	panics bool
	// stored is the value that stores get: the object itself, or a withMeta around it.
	stored any
}

// withMeta is an object with metadata.
type withMeta struct {
	metav1.ObjectMeta
	object *object
}

// dress sets o.stored.
func (o *object) dress() *object {
	o.stored = o
	if o.version != "" {
		o.stored = &withMeta{metav1.ObjectMeta{ResourceVersion: o.version}, o}
	}
	return o
}

// objectOf returns the object in a value that a store returned or an IndexFunc got; nil if
// there is none.
func objectOf(obj any) *object {
	switch o := obj.(type) {
	case *object:
		return o
	case *withMeta:
		if o != nil {
			return o.object
		}
	}
	return nil
}

// hasVersion reports whether o is an object with a resource version.
func (o *object) hasVersion() bool { return o != nil && o.version != "" }

// name returns the object's name in answers.
func (o *object) name() string { return fmt.Sprintf("o%d", o.id) }

// String returns the object's text in calls: its name, values, version and failing index.
func (o *object) String() string {
	if o == nil {
		return "nil"
	}
	var has []string
	for i, values := range o.values {
		if len(values) > 0 {
			has = append(has, fmt.Sprintf("%s=%q", indexNames[i], values))
		}
	}
	if o.version != "" {
		has = append(has, "version="+o.version)
	}
	if o.poison >= 0 {
		how := "fails"
		if o.panics {
			how = "panics"
		}
		has = append(has, "index "+indexNames[o.poison]+" "+how)
	}
	return o.name() + "{" + strings.Join(has, " ") + "}"
}

// errIndex is the value with which an IndexFunc fails, as an error or as a panic.
type errIndex struct{ id int }

func (e errIndex) Error() string { return fmt.Sprintf("the IndexFunc fails on o%d", e.id) }

var errStranger = errors.New("the IndexFunc was given what is no object of the history")

// indexers returns a new map of the indexers with these numbers.
func indexers(numbers ...int) contract.Indexers {
	m := make(contract.Indexers, len(numbers))
	for _, n := range numbers {
		m[indexNames[n]] = func(obj any) ([]string, error) {
			o := objectOf(obj)
			switch {
			case o == nil:
				return nil, errStranger
			case o.poison == n && o.panics:
				panic(errIndex{o.id})
			case o.poison == n:
				return nil, errIndex{o.id}
			}
			return o.values[n], nil
		}
	}
	return m
}
