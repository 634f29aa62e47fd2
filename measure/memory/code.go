package memory

import (
	"fmt"
	"go/format"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Snippet is a remedy as Go.
type Snippet struct {
	Title   string   `json:"title"`
	Imports []string `json:"imports"` // each as it stands in an import declaration
	Code    string   `json:"code"`
}

const (
	own       = "github.com/informerbench/informerbench/"
	apiMeta   = `"k8s.io/apimachinery/pkg/api/meta"`
	metaV1    = `metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"`
	untypedIn = `"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"`
	runtimeIn = `"sigs.k8s.io/controller-runtime/pkg/`
)

// Code writes the remedies of a report as Go. keepers are the packages below objects/ that have a
// Keeper, such as "interned".
func Code(r *Report, keepers []string) ([]Snippet, error) {
	paths, err := parsePaths(r.Strip)
	if err != nil {
		return nil, err
	}
	out := []Snippet{stripCode(r, paths), {
		Title:   "client-go: before its factory starts",
		Imports: []string{`"k8s.io/client-go/informers"`, `"k8s.io/client-go/kubernetes"`},
		Code: `func newFactory(client kubernetes.Interface) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithTransform(strip))
}`,
	}, {
		Title: "controller-runtime: for all kinds, or for one",
		Imports: []string{runtimeIn + `cache"`, runtimeIn + `client"`,
			objectImport(r.Kinds[0])},
		Code: fmt.Sprintf(`var all = cache.Options{DefaultTransform: strip}
var one = cache.Options{ByObject: map[client.Object]cache.ByObject{
	%s: {Transform: strip},
}}`, objectCode(r.Kinds[0])),
	}, metadataCode(r)}
	for _, k := range keepers {
		out = append(out, Snippet{
			Title: fmt.Sprintf("Our informer, %s: for client-go, and for controller-runtime", k),
			Imports: []string{`"` + own + `informer"`, `"` + own + "objects/" + k + `"`,
				runtimeIn + `cache"`},
			Code: fmt.Sprintf(`var %[1]sOptions = informer.Options{Objects: %[1]s.New(%[1]s.Options{})}
var %[1]sCache = cache.Options{NewInformer: informer.Func(%[1]sOptions)}`, k),
		})
	}
	for i := range out {
		slices.Sort(out[i].Imports)
		out[i].Imports = slices.Compact(out[i].Imports)
		code, err := format.Source([]byte(out[i].Code))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", out[i].Title, err)
		}
		out[i].Code = string(code)
	}
	return out, nil
}

func (k *Kind) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}

// goType is the type of a kind that has one and is measured in it; nil otherwise.
func (k *Kind) goType() reflect.Type {
	if k.Form == FormUnstructured {
		return nil
	}
	return scheme().AllKnownTypes()[k.gvk()]
}

// alias is how a package of types is imported: "appsv1".
func alias(t reflect.Type) (name, imported string) {
	dir, version := path.Split(t.PkgPath())
	name = path.Base(dir) + version
	return name, fmt.Sprintf("%s %q", name, t.PkgPath())
}

func objectImport(k Kind) string {
	if t := k.goType(); t != nil {
		_, imported := alias(t)
		return imported
	}
	return metaV1
}

func objectCode(k Kind) string {
	if t := k.goType(); t != nil {
		name, _ := alias(t)
		return fmt.Sprintf("&%s.%s{}", name, t.Name())
	}
	return partial(k)
}

// partial is an object of a kind as metadata alone.
func partial(k Kind) string {
	return fmt.Sprintf(`&metav1.PartialObjectMetadata{
	TypeMeta: metav1.TypeMeta{APIVersion: %q, Kind: %q},
}`, k.gvk().GroupVersion().String(), k.Kind)
}

func metadataCode(r *Report) Snippet {
	k := r.Kinds[0]
	plural, _ := meta.UnsafeGuessKindToResource(k.gvk())
	return Snippet{
		Title: "Metadata only: client-go, and what controller-runtime watches and gets",
		Imports: []string{
			metaV1,
			`"k8s.io/apimachinery/pkg/runtime/schema"`,
			`"k8s.io/client-go/metadata"`,
			`"k8s.io/client-go/metadata/metadatainformer"`,
		},
		Code: fmt.Sprintf(
			`func newMetadataFactory(c metadata.Interface) metadatainformer.SharedInformerFactory {
	factory := metadatainformer.NewSharedInformerFactory(c, 0)
	factory.ForResource(schema.GroupVersionResource{
		Group: %q, Version: %q, Resource: %q,
	})
	return factory
}

var watched = %s`,
			k.Group,
			k.Version,
			plural.Resource,
			partial(k),
		),
	}
}

// stripCode is the TransformFunc that strips the fields.
func stripCode(r *Report, paths []fieldPath) Snippet {
	c := &coder{}
	var body strings.Builder
	var others []fieldPath
	for i, p := range paths {
		if line := metadataLine(p, "m"+strconv.Itoa(i)); line != "" {
			body.WriteString(line)
		} else {
			others = append(others, p)
		}
	}
	if body.Len() > 0 {
		c.imports = append(c.imports, apiMeta)
		all := "\tif m, err := meta.Accessor(obj); err == nil {\n" + body.String() + "\t}\n"
		body.Reset()
		body.WriteString(all)
	}
	if len(others) > 0 {
		if c.cases(r, others); c.out.Len() > 0 {
			body.WriteString("\tswitch o := obj.(type) {\n" + c.out.String() + "\t}\n")
		}
	}
	return Snippet{
		Title: "Fields stripped: a TransformFunc",
		Code: "// strip drops what the reconcilers do not read. Write by Patch: an Update of a\n" +
			"// stripped object drops its fields on the server too.\n" +
			"func strip(obj any) (any, error) {\n" + body.String() + "\treturn obj, nil\n}" + c.helpers(),
		Imports: c.imports,
	}
}

// metadataLine strips a field by the accessor that all objects have; "" is no such field.
func metadataLine(p fieldPath, v string) string {
	set := map[string]string{"managedFields": "ManagedFields", "annotations": "Annotations",
		"labels": "Labels", "ownerReferences": "OwnerReferences", "finalizers": "Finalizers"}
	if p.steps[0].name != "metadata" {
		return ""
	}
	name := set[p.steps[1].name]
	switch {
	case name != "" && len(p.steps) == 2:
		return fmt.Sprintf("\t\tm.Set%s(nil)\n", name)
	case len(p.steps) == 3 && p.steps[2].key && (name == "Annotations" || name == "Labels"):
		return fmt.Sprintf(
			"\t\t%[1]s := m.Get%[2]s()\n\t\tdelete(%[1]s, %[3]q)\n\t\tm.Set%[2]s(%[1]s)\n",
			v,
			name,
			p.steps[2].name,
		)
	}
	return ""
}

// coder writes the cases of a TransformFunc.
type coder struct {
	out        strings.Builder
	imports    []string
	zero, each bool // helpers that it needs
}

// cases writes a case for each kind that has some of the fields.
func (c *coder) cases(r *Report, paths []fieldPath) {
	custom := false
	for _, k := range r.Kinds {
		t := k.goType()
		if t == nil {
			custom = true
			continue
		}
		body := ""
		for _, p := range paths {
			body += c.typed("o", t, p.steps, "\t\t", "i")
		}
		if body != "" {
			name, imported := alias(t)
			c.imports = append(c.imports, imported)
			fmt.Fprintf(&c.out, "\tcase *%s.%s:\n%s", name, t.Name(), body)
		}
	}
	if !custom {
		return
	}
	c.imports = append(c.imports, untypedIn)
	c.out.WriteString("\tcase *unstructured.Unstructured:\n")
	for _, p := range paths {
		c.out.WriteString(c.untyped("o.Object", p.steps, "\t\t"))
	}
}

// typed writes the statements that empty a field of a variable; "" if its type has none.
func (c *coder) typed(v string, t reflect.Type, steps []step, indent, index string) string {
	s := steps[0]
	if t.Kind() == reflect.Pointer {
		if body := c.typed(v, t.Elem(), steps, indent+"\t", index); body != "" {
			return fmt.Sprintf("%sif %s != nil {\n%s%s}\n", indent, v, body, indent)
		}
		return ""
	}
	last := len(steps) == 1
	switch {
	case t.Kind() == reflect.Struct && !opaque(t):
		f, ok := fieldNamed(t, s.name)
		if !ok {
			return ""
		}
		if v += "." + f.Name; last {
			c.zero = true
			return fmt.Sprintf("%szero(&%s)\n", indent, v)
		}
		return c.typed(v, f.Type, steps[1:], indent, index)
	case t.Kind() == reflect.Slice && s.name == "" && !last:
		body := c.typed(v+"["+index+"]", t.Elem(), steps[1:], indent+"\t", index+"i")
		if body == "" {
			return ""
		}
		return fmt.Sprintf("%sfor %s := range %s {\n%s%s}\n", indent, index, v, body, indent)
	case t.Kind() == reflect.Map && s.name != "" && last:
		return fmt.Sprintf("%sdelete(%s, %q)\n", indent, v, s.name)
	}
	return ""
}

// untyped writes the statements that remove a field of a map.
func (c *coder) untyped(v string, steps []step, indent string) string {
	var names []string
	for i, s := range steps {
		if s.name == "" {
			c.each = true
			return indent + fmt.Sprintf("each(%s, func(m map[string]any) {\n%s%s}, %s)\n", v,
				c.untyped("m", steps[i+1:], indent+"\t"), indent, strings.Join(names, ", "))
		}
		names = append(names, fmt.Sprintf("%q", s.name))
	}
	return fmt.Sprintf(
		"%sunstructured.RemoveNestedField(%s, %s)\n",
		indent,
		v,
		strings.Join(names, ", "),
	)
}

func (c *coder) helpers() (out string) {
	if c.zero {
		out += "\n\nfunc zero[T any](field *T) { *field = *new(T) }"
	}
	if c.each {
		out += `

// each calls f for the elements of a list that fields lead to.
func each(of map[string]any, f func(map[string]any), fields ...string) {
	list, _, _ := unstructured.NestedFieldNoCopy(of, fields...)
	items, _ := list.([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			f(m)
		}
	}
}`
	}
	return out
}
