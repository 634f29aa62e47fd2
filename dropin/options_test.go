package dropin_test

import (
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// passedOn are the options of others, or fields of theirs, that our packages do not read.
var passedOn = map[string]string{
	"k8s.io/client-go/tools/cache.ReflectorOptions": "client-go's own Reflector gets them whole",
	"k8s.io/client-go/util/workqueue.TypedDelayingQueueConfig.Logger": "our delaying queue has " +
		"nothing to log",
	"k8s.io/client-go/util/workqueue.TypedRateLimitingQueueConfig.Logger": "for its delaying queue",
}

// Each field of an options struct of client-go's or controller-runtime's that a function of ours
// takes is read somewhere in ours, or is named above with the reason: a field that a new version
// brings is not lost in silence.
func TestNoOptionIsLost(t *testing.T) {
	t.Parallel()
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedSyntax |
		packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports},
		module+"/informer", module+"/dropin/cache", module+"/dropin/workqueue",
		module+"/dropin/priorityqueue", module+"/dropin/ctrlqueue")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	taken := map[string]*types.Struct{}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Fatal(e)
		}
		for _, s := range p.TypesInfo.Selections {
			if s.Kind() == types.FieldVal {
				read[nameOf(s.Recv())+"."+s.Obj().Name()] = true
			}
		}
		for _, name := range p.Types.Scope().Names() {
			f, ok := p.Types.Scope().Lookup(name).(*types.Func)
			if !ok {
				continue
			}
			for v := range f.Signature().Params().Variables() {
				if s, ok := v.Type().Underlying().(*types.Struct); ok && isOptions(nameOf(v.Type())) {
					taken[nameOf(v.Type())] = s
				}
			}
		}
	}
	if len(taken) < 5 {
		t.Errorf("only %d options structs are taken: %v", len(taken), taken)
	}
	for of, s := range taken {
		for field := range s.Fields() {
			name := of + "." + field.Name()
			if field.Exported() && !read[name] && passedOn[name] == "" && passedOn[of] == "" {
				t.Errorf("%s is lost: take it over, or refuse it and name it in passedOn", name)
			}
		}
	}
}

// nameOf is the full name of a type, or of what a pointer leads to, without type arguments.
func nameOf(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	name, _, _ := strings.Cut(types.TypeString(types.Unalias(t), nil), "[")
	return name
}

func isOptions(name string) bool {
	return (strings.HasPrefix(name, "k8s.io/client-go/") || strings.HasPrefix(name, "sigs.k8s.io/")) &&
		(strings.HasSuffix(name, "Options") || strings.HasSuffix(name, "Config") ||
			strings.HasSuffix(name, "Opts"))
}
