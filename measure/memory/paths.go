package memory

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// fieldPath names fields of objects, as Field.Path does.
type fieldPath struct {
	text  string
	steps []step
}

// step is one step into a value.
type step struct {
	name string // of a field; "" is each element of a list, or each value of a map
	key  bool   // name is the key of a map
}

// pathPart is a field's name, [], [*] or ["key"].
var pathPart = regexp.MustCompile(`^(?:\.?([A-Za-z$][A-Za-z0-9_$-]*)|\[\*?\]|\["([^"\\]+)"\])`)

// keptFields are what caches need of every object.
var keptFields = []string{"metadata", "metadata.name", "metadata.namespace", "metadata.uid",
	"metadata.resourceVersion", "apiVersion", "kind"}

// CheckStrip says what is wrong with paths of fields for Options.Strip.
func CheckStrip(paths []string) error {
	_, err := parsePaths(paths)
	return err
}

func parsePaths(texts []string) (paths []fieldPath, err error) {
	for _, text := range texts {
		p, err := parsePath(text)
		if err != nil {
			return nil, err
		}
		paths = append(paths, p)
	}
	return paths, nil
}

func parsePath(text string) (fieldPath, error) {
	p := fieldPath{text: text}
	for rest := text; rest != ""; {
		m := pathPart.FindStringSubmatch(rest)
		if m == nil || p.steps == nil && m[1] == "" {
			return p, fmt.Errorf("%q is no path of fields: at %q; write it as status.images, "+
				`spec.containers[].env or metadata.annotations["example.com/key"]`, text, rest)
		}
		p.steps = append(p.steps, step{name: m[1] + m[2], key: m[2] != ""})
		rest = rest[len(m[0]):]
	}
	// The elements of a list are stripped as the list is.
	for len(p.steps) > 0 && p.steps[len(p.steps)-1].name == "" {
		p.steps = p.steps[:len(p.steps)-1]
	}
	if len(p.steps) == 0 {
		return p, fmt.Errorf("%q names no field: write it as metadata.managedFields", text)
	}
	if slices.Contains(keptFields, p.plain()) {
		return p, fmt.Errorf("%q cannot be stripped: caches need it; leave it out", text)
	}
	return p, nil
}

// plain is the path's names alone.
func (p fieldPath) plain() string {
	var names []string
	for _, s := range p.steps {
		names = append(names, s.name)
	}
	return strings.Join(names, ".")
}

// strip empties the fields of an object.
func (p fieldPath) strip(obj runtime.Object) {
	v := reflect.ValueOf(obj)
	if u, ok := obj.(*unstructured.Unstructured); ok {
		v = reflect.ValueOf(u.Object)
	}
	empty(v, p.steps)
}

// empty empties what steps lead to. It steps over what is not there.
func empty(v reflect.Value, steps []step) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	s, last := steps[0], len(steps) == 1
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			switch {
			case f.name == s.name && last:
				v.Field(f.index).SetZero()
			case f.name == s.name:
				empty(v.Field(f.index), steps[1:])
			case f.name == "" && f.typ.Kind() == reflect.Struct && !opaque(v.Type()):
				empty(v.Field(f.index), steps)
			}
		}
	case reflect.Slice:
		if s.name != "" || last { // spec.containers.env, without []
			return
		}
		for i := range v.Len() {
			empty(v.Index(i), steps[1:])
		}
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String || v.Len() == 0 {
			return
		}
		for _, key := range v.MapKeys() {
			if s.name != "" && key.String() != s.name {
				continue
			}
			if last {
				v.SetMapIndex(key, reflect.Value{})
			} else {
				empty(v.MapIndex(key), steps[1:])
			}
		}
	}
}
