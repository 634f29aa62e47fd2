package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/informerbench/informerbench/internal/input"
)

// ReadWorkload reads a workload from a YAML file. See ParseWorkload.
func ReadWorkload(path string) (Workload, error) {
	data, err := input.ReadFile(path)
	if err != nil {
		return Workload{}, fmt.Errorf("read the workload: %w", err)
	}
	return ParseWorkload(path, data)
}

// ParseWorkload reads one workload from YAML, fills in the defaults and validates it. name
// is the file's name in messages.
//
// It is strict. An unknown field, a duplicate field, an alias, a second document and a
// value that Validate refuses are all errors. All are reported, as FieldErrors in the order
// of the lines.
func ParseWorkload(name string, data []byte) (Workload, error) {
	d := decoder{lines: map[string]int{}}
	var w Workload
	root, err := rootNode(data)
	if err == nil {
		d.value(root, "", reflect.ValueOf(&w).Elem())
	} else {
		d.errs = FieldErrors{err}
	}
	if err == nil {
		w = w.WithDefaults()
		var invalid FieldErrors
		if errors.As(w.Validate(), &invalid) {
			d.merge(invalid)
		}
	}
	if len(d.errs) == 0 {
		return w, nil
	}
	for _, e := range d.errs {
		e.File = name
	}
	slices.SortStableFunc(d.errs, func(a, b *FieldError) int { return a.Line - b.Line })
	return Workload{}, d.errs
}

// WriteWorkload writes w as YAML that ParseWorkload reads back to the same value.
func WriteWorkload(out io.Writer, w Workload) error {
	enc := yaml.NewEncoder(out)
	enc.SetIndent(2)
	if err := enc.Encode(w); err != nil {
		return fmt.Errorf("write the workload %s: %w", w.Name, err)
	}
	return enc.Close()
}

// rootNode parses the single document and returns its mapping.
func rootNode(data []byte) (*yaml.Node, *FieldError) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, &FieldError{Line: 1, Problem: "the file is empty",
			Allowed: "the fields of a workload: name, component, objects, ..."}
	} else if err != nil {
		return nil, syntaxError(data, err)
	}
	if err := dec.Decode(&second); err == nil {
		return nil, &FieldError{Line: second.Line, Problem: "a second document begins here",
			Allowed: "one workload per file"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxError(data, err)
	}
	return doc.Content[0], nil
}

func syntaxError(data []byte, err error) *FieldError {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if indent, _, tab := bytes.Cut(line, []byte("\t")); tab && len(bytes.TrimLeft(indent, " ")) == 0 {
			return &FieldError{Line: n, Problem: "a tab indents the line", Allowed: "spaces"}
		}
	}
	e := &FieldError{Line: 1, Problem: strings.TrimPrefix(err.Error(), "yaml: ")}
	// The library reports the line in the text only.
	if rest, ok := strings.CutPrefix(e.Problem, "line "); ok {
		var tail string
		if n, _ := fmt.Sscanf(rest, "%d:%s", &e.Line, &tail); n >= 1 {
			_, e.Problem, _ = strings.Cut(rest, ": ")
		}
	}
	e.Problem = "no YAML: " + e.Problem
	return e
}

// decoder copies a YAML tree into Go values. It records the line of each field path, so
// that errors of Validate can be located too.
type decoder struct {
	lines map[string]int
	errs  FieldErrors
}

func (d *decoder) fail(n *yaml.Node, path, problem, allowed string) {
	d.errs = append(d.errs, &FieldError{Line: n.Line, Path: path, Problem: problem, Allowed: allowed})
}

// merge adds the errors of Validate, except for fields that could not be read, or whose
// parent could not.
func (d *decoder) merge(invalid FieldErrors) {
	unread := slices.Clone(d.errs)
	for _, e := range invalid {
		if slices.ContainsFunc(unread, func(have *FieldError) bool {
			rest, inside := strings.CutPrefix(e.Path, have.Path)
			return inside && (have.Path == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
		}) {
			continue
		}
		e.Line = d.line(e.Path)
		d.errs = append(d.errs, e)
	}
}

// line is the line of path, or of the nearest enclosing field.
func (d *decoder) line(path string) int {
	for {
		if line, ok := d.lines[path]; ok {
			return line
		}
		if path == "" {
			return 1
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

func (d *decoder) value(n *yaml.Node, path string, v reflect.Value) {
	if _, ok := d.lines[path]; !ok {
		d.lines[path] = n.Line
	}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		d.fail(n, path, "anchors and aliases are not read", "the value itself")
	case v.Kind() == reflect.Struct:
		d.mapping(n, path, v)
	case v.Kind() == reflect.Slice:
		d.sequence(n, path, v)
	default:
		d.scalar(n, path, v)
	}
}

func (d *decoder) mapping(n *yaml.Node, path string, v reflect.Value) {
	fields, names := fieldsOf(v.Type())
	if n.Kind != yaml.MappingNode {
		d.fail(n, path, "these are no fields", strings.Join(names, ", "))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		index, known := fields[key.Value]
		switch {
		case !known || key.Kind != yaml.ScalarNode:
			d.fail(key, at, "unknown field", "one of "+strings.Join(names, ", "))
		case seen[key.Value]:
			d.fail(key, at, "the field stands there twice", "it once")
		default:
			seen[key.Value] = true
			d.lines[at] = key.Line
			d.value(val, at, v.Field(index))
		}
	}
}

func (d *decoder) sequence(n *yaml.Node, path string, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, path, "this is no list", "[a, b] or lines that begin with a dash")
		return
	}
	for i, item := range n.Content {
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(item, fmt.Sprintf("%s[%d]", path, i), e)
		v.Set(reflect.Append(v, e))
	}
}

func (d *decoder) scalar(n *yaml.Node, path string, v reflect.Value) {
	if _, ok := v.Interface().(time.Duration); ok {
		t, err := time.ParseDuration(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil {
			d.fail(n, path, fmt.Sprintf("%q is no duration", n.Value),
				"a number with a unit, such as 300ms, 3s or 1m30s")
			return
		}
		v.SetInt(int64(t))
		return
	}
	kind, tags := "text", []string{"!!str"}
	switch v.Kind() {
	case reflect.Bool:
		kind, tags = "true or false", []string{"!!bool"}
	case reflect.Int:
		kind, tags = "a whole number", []string{"!!int"}
	case reflect.Uint64:
		kind, tags = "a whole number, 0 or above", []string{"!!int"}
	case reflect.Float64:
		kind, tags = "a number", []string{"!!int", "!!float"}
	}
	target := reflect.New(v.Type())
	if n.Kind != yaml.ScalarNode || !slices.Contains(tags, n.ShortTag()) ||
		n.Decode(target.Interface()) != nil {
		d.fail(n, path, fmt.Sprintf("%q does not fit", n.Value), kind)
		return
	}
	v.Set(target.Elem())
}

// fieldsOf maps the yaml names of a struct's fields to their indexes.
func fieldsOf(t reflect.Type) (map[string]int, []string) {
	fields, names := map[string]int{}, []string{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		fields[name] = i
		names = append(names, name)
	}
	return fields, names
}
