package dropin_test

import (
	"cmp"
	"errors"
	"fmt"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// missingFrom lists the exported names of the package with the import path theirs that the
// package ours lacks, or has with another type. A name's type is the same if a program that
// uses it compiles against either: functions have the same parameters and results, and types
// the same exported methods and fields.
func missingFrom(ours, theirs string) ([]string, error) {
	pkgs, err := packages.Load(
		&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports}, ours, theirs)
	if err != nil {
		return nil, err
	}
	of := map[string]*types.Package{}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			err = errors.Join(err, e)
		}
		of[p.PkgPath] = p.Types
	}
	if err != nil || of[ours] == nil || of[theirs] == nil {
		return nil, cmp.Or(err, fmt.Errorf("%s or %s is not found", ours, theirs))
	}
	d := differ{of[ours], of[theirs]}
	var missing []string
	for _, name := range d.theirs.Scope().Names() {
		theirs := d.theirs.Scope().Lookup(name)
		if !theirs.Exported() {
			continue
		}
		mine := d.ours.Scope().Lookup(name)
		if mine == nil {
			missing = append(missing, fmt.Sprintf("%s: missing", name))
			continue
		}
		missing = append(missing, d.differences(mine, theirs)...)
	}
	return missing, nil
}

type differ struct{ ours, theirs *types.Package }

func (d differ) differences(mine, theirs types.Object) []string {
	if _, isType := theirs.(*types.TypeName); !isType {
		if a, b := d.text(mine.Type()), d.text(theirs.Type()); a != b &&
			!types.Identical(mine.Type(), theirs.Type()) {
			return []string{fmt.Sprintf("%s: %s, want %s", theirs.Name(), a, b)}
		}
		return nil
	}
	a, b := instance(mine.Type()), instance(theirs.Type())
	if types.Identical(a, b) {
		return nil
	}
	var out []string
	have := d.members(a)
	for member, want := range d.members(b) {
		if have[member] != want {
			out = append(out, fmt.Sprintf("%s.%s: %s, want %s", theirs.Name(), member,
				cmp.Or(have[member], "missing"), want))
		}
	}
	return out
}

// instance is t with string for its type parameters, if it has any.
func instance(t types.Type) types.Type {
	generic, ok := t.(interface{ TypeParams() *types.TypeParamList })
	if !ok || generic.TypeParams().Len() == 0 {
		return t
	}
	args := make([]types.Type, generic.TypeParams().Len())
	for i := range args {
		args[i] = types.Typ[types.String]
	}
	made, err := types.Instantiate(nil, t, args, false)
	if err != nil {
		panic(err) // the number of arguments is right, and nothing else is checked
	}
	return made
}

// members are the exported methods and fields, with their types.
func (d differ) members(t types.Type) map[string]string {
	out := map[string]string{}
	set := types.NewMethodSet(types.NewPointer(t))
	if types.IsInterface(t) {
		set = types.NewMethodSet(t)
	}
	for method := range set.Methods() {
		if f := method.Obj(); f.Exported() {
			out[f.Name()] = d.text(f.Type())
		}
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for field := range s.Fields() {
			if field.Exported() {
				out[field.Name()] = d.text(field.Type())
			}
		}
	}
	return out
}

// text is a type without the names of parameters, and without those of the two packages.
func (d differ) text(t types.Type) string {
	qualifier := func(p *types.Package) string {
		if p == d.ours || p == d.theirs {
			return ""
		}
		return p.Path()
	}
	write := func(t types.Type) string {
		return strings.ReplaceAll(types.TypeString(t, qualifier), "interface{}", "any")
	}
	s, ok := t.(*types.Signature)
	if !ok {
		return write(t)
	}
	tuple := func(of *types.Tuple) string {
		var out []string
		for v := range of.Variables() {
			out = append(out, write(v.Type()))
		}
		return "(" + strings.Join(out, ", ") + ")"
	}
	text := tuple(s.Params()) + " " + tuple(s.Results())
	for p := range s.TypeParams().TypeParams() {
		text += " " + p.Obj().Name() + " " + write(p.Constraint())
	}
	if s.Variadic() {
		text += " variadic"
	}
	return text
}

// A program that imports a stand-in finds all that it took from the original.
func TestNothingIsMissing(t *testing.T) {
	t.Parallel()
	for ours, theirs := range map[string]string{
		module + "/dropin/cache":         "k8s.io/client-go/tools/cache",
		module + "/dropin/workqueue":     "k8s.io/client-go/util/workqueue",
		module + "/dropin/priorityqueue": "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue",
	} {
		missing, err := missingFrom(ours, theirs)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range missing {
			t.Errorf("%s: %s", ours, m)
		}
	}
}

// queue/workqueue has names in common with client-go's package, and other types under them.
func TestDifferencesAreSeen(t *testing.T) {
	t.Parallel()
	missing, err := missingFrom("github.com/informerbench/informerbench/queue/workqueue",
		"k8s.io/client-go/util/workqueue")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"NewTyped: missing",
		"Queue.Touch: missing, want (string) ()",
		"New: (Config[T]) (*Queue[T]) T comparable, want () (*Type)",
	} {
		if !slices.Contains(missing, want) {
			t.Errorf("no %q among\n%s", want, strings.Join(missing, "\n"))
		}
	}
	if _, err := missingFrom("nowhere.example/at/all", "fmt"); err == nil {
		t.Error("a package that does not exist: no error")
	}
}
