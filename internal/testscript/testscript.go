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
// os.WriteFile does not do: a test beside this one may start a process while the file is open.
// The new process holds the file open for writing until its own program begins, and to run the
// script fails that long ("text file busy", https://go.dev/issue/22315). Write lets no process
// begin while the file is open.
func Write(t testing.TB, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(text), 0o755) //nolint:gosec // it has to be a program
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}
