// Command run writes the measured numbers of README.md, docs/, upstream/kep.md and
// advise/rules.yaml from what was measured; see package pages. It runs in any folder of the repository.
//
//	go generate ./internal/pages ./advise   # the rules' page after them
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/informerbench/informerbench/internal/pages"
)

func main() {
	root, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err == nil {
		err = pages.Update(strings.TrimSpace(string(root)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}
