package informer

import (
	"fmt"
	"path"
	"reflect"
	"runtime"
	"strings"
)

// maxFrames bounds how far callsite looks. The program's code is some ten frames above a
// generated factory.
const maxFrames = 32

// callsite returns package, file and line of the innermost caller outside of the packages
// that make up informers.
//
// Call it where an informer is made. The goroutine that runs an informer begins in a
// sync.WaitGroup, and its stack does not have the program's code.
//
// apimachinery's naming.GetNameFromCallsite does not do: it looks at nine frames only. It
// also compares file names, and those of the module cache have a version in them, so it
// does not recognise client-go's packages there.
func callsite() string {
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

// own is the import path of this package.
var own = reflect.TypeFor[Reflector]().PkgPath()

// isPartOfInformers reports whether a package is on the stack of every informer that is
// made, so that its name tells nothing. External tests of such a package are not.
func isPartOfInformers(pkg string) bool {
	if strings.HasSuffix(pkg, "_test") {
		return false
	}
	for _, part := range []string{own, "k8s.io/client-go/tools/cache", "k8s.io/client-go/informers", "k8s.io/client-go/dynamic/dynamicinformer", "k8s.io/client-go/metadata/metadatainformer", "runtime", "sync", "reflect"} {
		if pkg == part || strings.HasPrefix(pkg, part+"/") {
			return true
		}
	}
	return false
}
