package memory

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Field is a part of the objects of a kind, with everything below it.
type Field struct {
	Name  string `json:"name"`           // as in Path, the last part
	Path  string `json:"path,omitempty"` // as Options.Strip takes it; "" is the whole object
	Bytes int64  `json:"bytes"`
	// Equal is how many of the bytes lie in allocations whose whole content another object of the
	// sample has in this field.
	Equal  int64   `json:"equalBytes,omitempty"`
	Fields []Field `json:"fields,omitempty"` // the largest first, without those that do not matter
}

// leastShare is the share of a kind's bytes below which a field is no line of its own.
const leastShare = 0.005

// anyKey stands for the keys of a map that are data.
const anyKey = "[*]"

// node is a field while objects are counted.
type node struct {
	name          string
	bytes, equal  int64 // without those below
	list          bool
	guessed       bool // the name is a key of a custom object: a field's, or data
	below         map[string]*node
	objects, last int32 // that have it; the last that did
}

func (n *node) seen(object int32) {
	if n.last != object {
		n.last = object
		n.objects++
	}
}

// field returns the field of a name; "" is the node itself.
func (n *node) field(name string, object int32) *node {
	if name == "" {
		return n
	}
	b := n.below[name]
	if b == nil {
		b = &node{name: name}
		if n.below == nil {
			n.below = map[string]*node{}
		}
		n.below[name] = b
	}
	b.seen(object)
	return b
}

// customObject is what is known of any object.
var customObject = reflect.TypeFor[struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`
	Spec              custom `json:"spec"`
	Status            custom `json:"status"`
}]()

// custom stands for a value whose type is unknown.
type custom struct{}

// key returns where a map's entry counts, and the type that names its fields.
func (n *node) key(key string, guide reflect.Type, object int32) (*node, reflect.Type) {
	switch {
	case opaque(guide):
		return n, guide
	case guide == nil || guide == reflect.TypeFor[custom]():
		b := n.field(key, object)
		b.guessed = true
		return b, nil
	case guide.Kind() == reflect.Pointer:
		return n.key(key, guide.Elem(), object)
	case guide.Kind() == reflect.Struct:
		if f, ok := fieldNamed(guide, key); ok {
			return n.field(key, object), f.Type
		}
		if guide == customObject {
			return n.key(key, nil, object)
		}
		return n.field(anyKey, object), reflect.TypeFor[time.Time]()
	}
	if (n.name == "labels" || n.name == "annotations") && wellKnown(key) {
		return n.field(`["`+key+`"]`, object), elemOf(guide)
	}
	return n.field(anyKey, object), elemOf(guide)
}

// known are the prefixes of labels and annotations that Kubernetes defines, where the rest of the
// key names no object.
var known = regexp.MustCompile(`^((kubectl|app|topology|failure-domain\.beta|beta|node|endpoints|` +
	`deployment|controller|batch|apps|autoscaling|pv|service|volume|kubeadm|statefulset|cni)\.)?` +
	`(kubernetes|k8s)\.io/[a-zA-Z0-9._-]+$`)

func wellKnown(key string) bool { return len(key) < 100 && known.MatchString(key) }

// opaqueTypes count as one value: they write themselves as text, or hold what is data.
var opaqueTypes = []reflect.Type{
	reflect.TypeFor[metav1.Time](),
	reflect.TypeFor[metav1.MicroTime](),
	reflect.TypeFor[time.Time](),
	reflect.TypeFor[resource.Quantity](),
	reflect.TypeFor[intstr.IntOrString](),
	reflect.TypeFor[metav1.FieldsV1](),
	reflect.TypeFor[runtime.RawExtension](),
}

func opaque(t reflect.Type) bool { return slices.Contains(opaqueTypes, t) }

// elemOf is the type of the elements of a type's values; nil is unknown.
func elemOf(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || opaque(t) {
		return t
	}
	if t == reflect.TypeFor[custom]() {
		return nil
	}
	if k := t.Kind(); k == reflect.Slice || k == reflect.Array || k == reflect.Map {
		return t.Elem()
	}
	return reflect.TypeFor[time.Time]() // a value that does not fit: nothing is named
}

// structField is a field with its name in JSON; "" is its struct's own.
type structField struct {
	index int
	name  string
	typ   reflect.Type
}

var structFields sync.Map // []structField by reflect.Type

// fieldsOf are the fields of a struct. Those of an opaque one have its name.
func fieldsOf(t reflect.Type) []structField {
	if f, ok := structFields.Load(t); ok {
		return f.([]structField)
	}
	var out []structField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if opaque(t) || name == "-" || !f.IsExported() || strings.Contains(options, "inline") {
			name = ""
		} else if name == "" && !f.Anonymous {
			name = f.Name
		}
		out = append(out, structField{i, name, f.Type})
	}
	structFields.Store(t, out)
	return out
}

// fieldNamed finds a field by its name in JSON, also in embedded structs.
func fieldNamed(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range fieldsOf(t) {
		if f.name == name {
			return t.Field(f.index), true
		}
		if f.name == "" && f.typ.Kind() == reflect.Struct {
			if found, ok := fieldNamed(f.typ, name); ok {
				return found, true
			}
		}
	}
	return reflect.StructField{}, false
}

// fields makes the tree of what was counted.
func (w *walker) fields(scale float64) Field {
	for p, c := range w.equal {
		if c.several {
			p.of.equal += c.bytes
		}
	}
	w.equal = nil
	w.root.hide()
	total, _ := w.root.totals()
	return w.root.export("", scale, int64(leastShare*float64(total)))
}

// totals are the bytes of a node and of those below, and how many of them are equal.
func (n *node) totals() (bytes, equal int64) {
	bytes, equal = n.bytes, n.equal
	for _, below := range n.below {
		b, e := below.totals()
		bytes, equal = bytes+b, equal+e
	}
	return bytes, equal
}

// identifier is how fields are named.
var identifier = regexp.MustCompile(`^[a-z][a-zA-Z0-9]{0,62}$`)

// freeForm are maps whose keys are data, by convention.
var freeForm = []string{"labels", "annotations", "matchLabels", "nodeSelector", "selector", "data",
	"stringData", "binaryData", "limits", "requests", "capacity", "allocatable", "parameters"}

// hide joins the guessed names below that may be data. A name that most objects have is a field's.
func (n *node) hide() {
	for key, b := range n.below {
		field := identifier.MatchString(key) && b.objects > 2 && 2*b.objects >= n.objects &&
			!slices.Contains(freeForm, n.name)
		if b.guessed && !field {
			delete(n.below, key)
			n.field(anyKey, n.last).join(b)
		}
	}
	for _, b := range n.below {
		b.hide()
	}
}

// join adds another node's bytes, and those below it.
func (n *node) join(other *node) {
	n.bytes, n.equal, n.list = n.bytes+other.bytes, n.equal+other.equal, n.list || other.list
	n.objects = max(n.objects, other.objects)
	for key, b := range other.below {
		to := n.field(key, n.last)
		to.guessed = b.guessed
		to.join(b)
	}
}

// export leaves out what is below least, its bytes count above.
func (n *node) export(path string, scale float64, least int64) Field {
	name := n.name
	if n.list {
		name += "[]"
	}
	if path != "" && !strings.HasPrefix(name, "[") {
		path += "."
	}
	path += name
	f := Field{Name: name, Path: path}
	bytes, equal := n.totals()
	f.Bytes, f.Equal = int64(scale*float64(bytes)), int64(scale*float64(equal))
	for _, b := range n.below {
		if t, _ := b.totals(); t > least {
			f.Fields = append(f.Fields, b.export(path, scale, least))
		}
	}
	slices.SortFunc(f.Fields, func(a, b Field) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	return f
}
