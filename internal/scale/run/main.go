// Command run writes docs/scale.md; see package scale.
//
//	go run ./internal/scale/run results docs/scale.md
package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/informerbench/informerbench/internal/scale"
	"github.com/informerbench/informerbench/measure/record"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "want the folder of the runs and the page: go run ./internal/scale/run results docs/scale.md")
		os.Exit(2)
	}
	var page bytes.Buffer
	err := scale.WritePage(&page, scale.Options{Results: os.Args[1], Shards: scale.PageShards})
	if err == nil {
		err = record.WriteFile(os.Args[2], page.Bytes())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}
