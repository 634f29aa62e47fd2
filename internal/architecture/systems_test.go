package architecture

import (
	"flag"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

var systems = flag.String("systems", "", "systems as GOOS/GOARCH, separated by commas, for which "+
	"TestOtherSystems checks the types of all code")

// The types fit on other systems too, tests included. All is read from source: go vet would
// compile each dependency for each system first, which takes minutes where none is cached.
func TestOtherSystems(t *testing.T) {
	if *systems == "" {
		t.Skip("it takes a minute; give -systems, as .ci/run does")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	for system := range strings.SplitSeq(*systems, ",") {
		t.Run(system, func(t *testing.T) {
			goos, arch, _ := strings.Cut(system, "/")
			pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Dir: "../..",
				Tests: true, Env: append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")},
				module+"/...")
			if err != nil {
				t.Fatal(err)
			}
			if len(pkgs) < 100 {
				t.Fatalf("only %d packages found: the test sees nothing", len(pkgs))
			}
			packages.Visit(pkgs, nil, func(p *packages.Package) {
				for _, err := range p.Errors {
					t.Errorf("%s: %v", p.PkgPath, err)
				}
			})
		})
	}
}
