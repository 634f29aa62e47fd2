// Package testscript writes the shell scripts that tests run in place of programs.
package testscript

import (
	"os"
	"syscall"
	"testing"
)

// Write writes a script that can be run as soon as Write returns. The test ends if it cannot be
// written.
//
// os.WriteFile is not enough: another test may start a process while the file is open. Until that
// process runs its own program, it holds the file open for writing, and running the script fails
// with "text file busy" (https://go.dev/issue/22315). Write holds syscall.ForkLock, so no process
// starts meanwhile.
func Write(t testing.TB, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(text), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}
