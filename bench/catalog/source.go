package catalog

import (
	"reflect"
	"runtime"
)

// Source says in which file the entry's constructor stands, and the line at which it begins. A
// constructor that the catalog wraps stands in a file of this package.
func (e Entry) Source() (file string, line int) {
	f := runtime.FuncForPC(reflect.ValueOf(e.constructor(e.Component)).Pointer())
	return f.FileLine(f.Entry())
}
