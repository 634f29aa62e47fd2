// The command run writes the generated file of a stand-in package, for go generate:
//
//	go run ./internal/forward/run -from k8s.io/client-go/tools/cache ../dropin/cache/forwards.go
package main

import (
	"flag"
	"log"
	"os"
	"path/filepath"

	"github.com/informerbench/informerbench/dropin/internal/forward"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("forward: ")
	from := flag.String("from", "", "import path of the package whose names are passed on")
	flag.Parse()
	if *from == "" || flag.NArg() != 1 {
		log.Fatal("want -from and the file to write, in the folder of the package")
	}
	text, err := forward.Generate(filepath.Dir(flag.Arg(0)), filepath.Base(flag.Arg(0)), *from)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(flag.Arg(0), text, 0o644); err != nil { //nolint:gosec // a source file
		log.Fatal(err)
	}
}
