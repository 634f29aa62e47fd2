package testscript

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// TestAScriptCanBeRunAtOnce: other tests start processes all the time.
func TestAScriptCanBeRunAtOnce(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	dir := t.TempDir()
	var wg sync.WaitGroup
	for tester := range 8 {
		wg.Go(func() {
			for n := range 40 {
				path := filepath.Join(dir, strconv.Itoa(tester)+"-"+strconv.Itoa(n))
				Write(t, path, "#!/bin/sh\n")
				if err := exec.CommandContext(t.Context(), path).Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
