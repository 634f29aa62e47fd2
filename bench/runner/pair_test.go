package runner

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The base's program names the commit that it was built from: it is not asked about the folder
// of this one.
func TestTheBaseIsAskedForItsOwnCommit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	exe := filepath.Join(t.TempDir(), "base")
	if err := os.WriteFile(exe, []byte("#!/bin/sh\ncat > \"$0.in\"\necho '{}'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := recordOf(t.Context(), exe, Options{Out: t.TempDir(), WorkTree: "here"}, io.Discard); err != nil {
		t.Fatal(err)
	}
	in, err := os.ReadFile(exe + ".in")
	if err != nil {
		t.Fatal(err)
	}
	var asked Options
	if err := json.Unmarshal(in, &asked); err != nil || asked.WorkTree != "" {
		t.Errorf("%v, asked about the folder %q", err, asked.WorkTree)
	}
}
