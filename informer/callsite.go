package informer

import (
	"fmt"
	"path"
	"reflect"
	"runtime"
	"strings"
)

// maxFrames bounds how far callsite looks: a factory of generated code is some ten frames
// away from who asks it.
const maxFrames = 32

// callsite names the code that led here: package, file and line of the innermost caller
// that has no part in every informer.
//
// apimachinery's naming.GetNameFromCallsite looks at nine frames, and at file names: those
// of the module cache have a version in them, so client-go's own packages are not
// recognised there. It is called where an informer is made. In the goroutine that runs
// one, the frames below are those of a sync.WaitGroup.
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

// packageOf is the import path of a function that the runtime names.
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/') + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	return function[:slash] + name
}

// own is the import path of this package.
var own = reflect.TypeFor[Reflector]().PkgPath()

// isPartOfInformers reports whether a package has a part in every informer: it would name
// all of them alike. Tests of such a package have none.
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
