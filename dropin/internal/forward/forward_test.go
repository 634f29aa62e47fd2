package forward

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Generate passes on what the other files do not declare, and says what it cannot pass on.
func TestGenerate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.org/standin\n\ngo 1.26\n")
	write("own.go", "package maps\n\nfunc Keys() {}\n")
	write("own_test.go", "package maps\n\nfunc Values() {}\n")
	write("forwards.go", "package maps\n\nfunc All() {}\n")
	_, err := Generate(dir, "forwards.go", "maps")
	if err == nil || !strings.Contains(err.Error(),
		"maps.All has type parameters: declare it by hand") ||
		strings.Contains(err.Error(), "maps.Keys") || !strings.Contains(err.Error(), "maps.Values") {
		t.Errorf("functions with type parameters, of which Keys is declared: %v", err)
	}
	text, err := Generate(dir, "forwards.go", "container/ring")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"package ring\n", "\ntype Ring = theirs.Ring\n",
		"\nvar New = theirs.New\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if _, err := Generate(dir, "forwards.go", "nowhere.example/at/all"); err == nil {
		t.Error("a package that does not exist: no error")
	}
}
