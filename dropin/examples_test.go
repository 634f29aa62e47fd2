package dropin_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// standIns are the import paths that a program changes, and what they were.
var standIns = map[string]string{
	"github.com/informerbench/informerbench/dropin/cache":         "k8s.io/client-go/tools/cache",
	"github.com/informerbench/informerbench/dropin/priorityqueue": "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue",
	"github.com/informerbench/informerbench/dropin/workqueue":     "k8s.io/client-go/util/workqueue",
}

// The examples were moved over by imports only: with the imports as they were, they compile and
// pass their tests on client-go and controller-runtime.
func TestExamplesDifferByImportsOnly(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"client-go", "controller-runtime"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.Abs("../examples/" + name)
			if err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "*.go"))
			if err != nil {
				t.Fatal(err)
			}
			tmp, replace, changed := t.TempDir(), map[string]string{}, 0
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for ours, theirs := range standIns {
					path := []byte(strconv.Quote(ours))
					changed += bytes.Count(text, path)
					text = bytes.ReplaceAll(text, path, []byte(strconv.Quote(theirs)))
				}
				replace[file] = filepath.Join(tmp, filepath.Base(file))
				if err := os.WriteFile(replace[file], text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if changed == 0 {
				t.Fatal("the example imports none of our packages")
			}
			overlay, err := json.Marshal(map[string]any{"Replace": replace})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(tmp, "overlay.json")
			if err := os.WriteFile(path, overlay, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("go", "test", "-count=1", "-overlay", path, ".") //nolint:gosec // constants
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
