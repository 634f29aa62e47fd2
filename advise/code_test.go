package advise

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// Every line of code compiles, with what it says that a program has already.
func TestEveryLineCompiles(t *testing.T) {
	t.Parallel()
	table := Rules()
	dir := t.TempDir()
	where := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(table.Lines)) {
		for _, p := range Programs() {
			l := table.Lines[key][p]
			if l.Code == "" {
				continue
			}
			for line := range strings.SplitSeq(strings.ReplaceAll(l.Code, "\t", "  "), "\n") {
				if labelWidth+len(line) > usualWidth {
					t.Errorf("%s, %s: wider than a terminal of %d columns: %s", key, p, usualWidth, line)
				}
			}
			file := filepath.Join(dir, fmt.Sprintf("line%d.go", len(where)))
			where[file] = fmt.Sprintf("%s, %s", key, p)
			if err := os.WriteFile(file, []byte(program(l, len(where))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, e := range compile(t, slices.Sorted(maps.Keys(where))) {
		file, _, _ := strings.Cut(e.Pos, ":")
		t.Errorf("%s: %s", where[file], e)
	}
}

// A line that does not compile would be found.
func TestBrokenLinesAreFound(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "line.go")
	broken := Line{Code: "store := lockfree.NewStore()",
		Imports: []string{"github.com/informerbench/informerbench/impl/lockfree"}}
	if err := os.WriteFile(file, []byte(program(broken, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if errs := compile(t, []string{file}); len(errs) == 0 ||
		!strings.Contains(errs[0].Msg, "NewStore") {
		t.Errorf("%v, want an error about NewStore", errs)
	}
}

// compile checks the types of some files, which are one package.
func compile(t *testing.T, files []string) []packages.Error {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{
		// Without NeedDeps the imports' types come from the build cache, and not from source.
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Dir:  root,
	}, files...)
	if err != nil || len(pkgs) != 1 {
		t.Fatalf("%d packages, want one: %v", len(pkgs), err)
	}
	if pkgs[0].Types == nil || len(pkgs[0].Syntax) != len(files) {
		t.Fatalf("%d of %d files were read", len(pkgs[0].Syntax), len(files))
	}
	return pkgs[0].Errors
}

// program is a file around a line of code.
func program(l Line, n int) string {
	var b strings.Builder
	b.WriteString("package lines\n\n")
	for _, i := range l.Imports {
		fmt.Fprintf(&b, "import %s\n", importSpec(i))
	}
	var params []string
	for _, name := range slices.Sorted(maps.Keys(l.Given)) {
		params = append(params, name+" "+l.Given[name])
	}
	fmt.Fprintf(&b, "\nfunc line%d(%s) {\n", n, strings.Join(params, ", "))
	code := l.Code
	for strings.HasPrefix(code, "type ") {
		var declared string
		declared, code, _ = strings.Cut(code, "\n")
		fmt.Fprintln(&b, declared)
	}
	names := defined.FindAllStringSubmatch(code, -1)
	if len(names) == 0 {
		code = "_ = " + code
	}
	fmt.Fprintln(&b, code)
	for _, name := range names {
		fmt.Fprintf(&b, "_ = %s\n", name[1])
	}
	b.WriteString("}\n")
	return b.String()
}

// defined finds the variables that a line of code defines.
var defined = regexp.MustCompile(`(?m)^(\w+) := `)
