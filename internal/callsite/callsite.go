// Package callsite names the code that makes an informer, for logs and errors.
package callsite

import (
	"fmt"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// maxFrames bounds how far Name looks. The program's code is some ten frames above a
// generated factory.
const maxFrames = 32

// Name returns package, file and line of the innermost caller outside of the packages
// that make up informers.
//
// Call it where an informer is made. The goroutine that runs an informer begins in a
// sync.WaitGroup, and its stack does not have the program's code.
//
// apimachinery's naming.GetNameFromCallsite does not do: it looks at nine frames only. It
// also compares file names, and those of the module cache have a version in them, so it
// does not recognise client-go's packages there.
func Name() string {
	pcs := make([]uintptr, maxFrames)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if pkg := packageOf(f.Function); f.Function != "" && !isPartOfInformers(pkg) {
			return fmt.Sprintf("%s/%s:%d", pkg, path.Base(f.File), f.Line)
		}
		if !more {
			return "????"
		}
	}
}

// packageOf is the import path in a function's name, as package runtime writes it.
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/') + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	return function[:slash] + name
}

// here is a type of this package, which finds the module's path.
type here struct{}

var module = strings.TrimSuffix(reflect.TypeFor[here]().PkgPath(), "internal/callsite")

// parts are the packages, with those below them, that are on the stack of every informer
// that is made.
var parts = []string{
	module + "informer", module + "dropin/cache",
	"k8s.io/client-go/tools/cache", "k8s.io/client-go/informers",
	"k8s.io/client-go/dynamic/dynamicinformer", "k8s.io/client-go/metadata/metadatainformer",
	"runtime", "sync", "reflect",
}

// isPartOfInformers reports whether a package's name tells nothing, being one of parts. An
// external test of such a package is none.
func isPartOfInformers(pkg string) bool {
	return !strings.HasSuffix(pkg, "_test") && slices.ContainsFunc(parts, func(part string) bool {
		return pkg == part || strings.HasPrefix(pkg, part+"/")
	})
}
