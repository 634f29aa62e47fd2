package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/load"
)

// The bounds of samples. DefaultSample is what NewSampler should be told.
const (
	DefaultSample = 5000
	mostBytes     = 64 << 20 // of JSON, of a kind
	mostKinds     = 500
)

// Sampler counts objects, and keeps a random sample of each kind. It is not safe for concurrent
// use.
type Sampler struct {
	most  int
	kinds map[schema.GroupVersionKind]*sampled
}

// sampled is a kind's sample: every object that was seen is in it with the same probability.
type sampled struct {
	kind        Kind
	gvk         schema.GroupVersionKind
	most        int
	sample      [][]byte // JSON, without apiVersion and kind
	sampleBytes int64
	rand        *rand.Rand
}

// NewSampler returns a Sampler. most is the largest number of objects of a kind that it keeps.
func NewSampler(most int) *Sampler {
	return &Sampler{most, map[schema.GroupVersionKind]*sampled{}}
}

// Objects is the number of objects seen.
func (s *Sampler) Objects() (n int) {
	for _, k := range s.kinds {
		n += k.kind.Objects
	}
	return n
}

// sorted are the kinds, by name.
func (s *Sampler) sorted() []*sampled {
	return slices.SortedFunc(maps.Values(s.kinds), func(a, b *sampled) int {
		return strings.Compare(a.kind.Name(), b.kind.Name())
	})
}

var errNoKind = errors.New(
	"an object without apiVersion and kind: print it with kubectl get -o json",
)

// Add counts an object, given by the JSON of its fields.
func (s *Sampler) Add(fields map[string]json.RawMessage) error {
	var version, kind string
	if json.Unmarshal(fields["apiVersion"], &version) != nil ||
		json.Unmarshal(fields["kind"], &kind) != nil || version == "" || kind == "" {
		return errNoKind
	}
	if !bytes.HasPrefix(fields["metadata"], []byte("{")) {
		return fmt.Errorf("a %s without metadata: print it with kubectl get -o json", kind)
	}
	gv, err := schema.ParseGroupVersion(version)
	if err != nil {
		return fmt.Errorf("a %s: %w", kind, err)
	}
	gvk := gv.WithKind(kind)
	k := s.kinds[gvk]
	if k == nil && len(s.kinds) == mostKinds {
		return fmt.Errorf("more than %d kinds: measure fewer at a time", mostKinds)
	}
	if k == nil {
		k = &sampled{
			kind: Kind{Group: gv.Group, Version: gv.Version, Kind: kind},
			gvk:  gvk,
			most: s.most,
			rand: rand.New(rand.NewPCG(1, 2)),
		} // the same sample each time
		s.kinds[gvk] = k
	}
	// Servers leave both out of the objects of a list.
	delete(fields, "apiVersion")
	delete(fields, "kind")
	text, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	k.add(text)
	return nil
}

// add is Vitter's algorithm R. A sample of too many bytes is halved at random.
func (k *sampled) add(text []byte) {
	k.kind.Objects++
	k.kind.JSON += int64(len(text))
	if len(k.sample) < k.most {
		k.sample = append(k.sample, text)
		k.sampleBytes += int64(len(text))
	} else if i := k.rand.IntN(k.kind.Objects); i < k.most {
		k.sampleBytes += int64(len(text)) - int64(len(k.sample[i]))
		k.sample[i] = text
	}
	for k.sampleBytes > mostBytes && len(k.sample) > 1 {
		k.most = len(k.sample) / 2
		k.rand.Shuffle(len(k.sample), func(i, j int) {
			k.sample[i], k.sample[j] = k.sample[j], k.sample[i]
		})
		for _, dropped := range k.sample[k.most:] {
			k.sampleBytes -= int64(len(dropped))
		}
		k.sample = slices.Clone(k.sample[:k.most])
	}
}

// AddObject counts a decoded object. An object that has no kind is one of kind.
func (s *Sampler) AddObject(obj runtime.Object, kind schema.GroupVersionKind) error {
	var of any = obj
	if u, ok := obj.(*unstructured.Unstructured); ok {
		of = u.Object
	}
	text, err := json.Marshal(of)
	if err != nil {
		return err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	if len(fields["kind"]) == 0 {
		fields["apiVersion"], _ = json.Marshal(kind.GroupVersion().String()) // strings do not fail
		fields["kind"], _ = json.Marshal(kind.Kind)
	}
	return s.Add(fields)
}

// AddTrace counts the objects of a trace at the moment when it has most of them.
func (s *Sampler) AddTrace(t *load.Trace) error {
	live := len(t.Initial)
	most, at := live, 0
	for i, e := range t.Events {
		switch e.Type {
		case watch.Added:
			live++
		case watch.Deleted:
			live--
		}
		if live > most {
			most, at = live, i+1
		}
	}
	for r, objects := range t.StateAfter(at) {
		for _, key := range slices.Sorted(maps.Keys(objects)) {
			if err := s.AddObject(objects[key], t.Resources[r].GVK()); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReadJSON counts the objects that kubectl get -o json prints: a list, an object, or several of
// them one after the other. It holds one object at a time. Errors name the byte.
func (s *Sampler) ReadJSON(r io.Reader) error {
	dec := json.NewDecoder(r)
	for n := 0; ; n++ {
		err := s.readValue(dec)
		if errors.Is(err, errEnd) && n > 0 {
			return nil
		}
		switch at := dec.InputOffset(); {
		case errors.Is(err, errEnd):
			return errors.New("it is empty: give what kubectl get -o json prints")
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("it ends within the object behind byte %d: print it again", at)
		case err != nil:
			return fmt.Errorf("behind byte %d: %w", at, err)
		}
	}
}

var (
	errEnd     = errors.New("no more objects")
	errNotJSON = errors.New(
		"it is not JSON of Kubernetes objects: give what kubectl get -o json prints",
	)
)

// readValue reads an object, or a list's objects.
func (s *Sampler) readValue(dec *json.Decoder) error {
	open, err := dec.Token()
	if errors.Is(err, io.EOF) {
		return errEnd
	}
	if open != json.Delim('{') {
		return errors.Join(errNotJSON, read(err))
	}
	fields, list := map[string]json.RawMessage{}, false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		if key != "items" {
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				return err
			}
			fields[key.(string)] = value // keys are strings, or Token fails
			continue
		}
		if list, err = s.readItems(dec, fields); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil || list {
		return err
	}
	return s.Add(fields)
}

// read is an error of the reader's, and nil for one of the text.
func read(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return nil
	}
	return err
}

// readItems reads the objects of a list. of are the list's fields so far.
func (s *Sampler) readItems(
	dec *json.Decoder,
	of map[string]json.RawMessage,
) (list bool, err error) {
	open, err := dec.Token()
	switch {
	case err != nil:
		return false, err
	case open == nil: // a list of nothing
		return true, nil
	case open != json.Delim('['):
		return false, errors.New("items is not a list")
	}
	var kind string
	_ = json.Unmarshal(of["kind"], &kind) // checked below
	kind, _ = strings.CutSuffix(kind, "List")
	for dec.More() {
		var fields map[string]json.RawMessage
		if err := dec.Decode(&fields); err != nil {
			return false, err
		}
		if fields != nil && len(fields["kind"]) == 0 && kind != "" {
			fields["apiVersion"] = of["apiVersion"]
			fields["kind"], _ = json.Marshal(kind) // a string does not fail
		}
		if err := s.Add(fields); err != nil {
			return false, err
		}
	}
	_, err = dec.Token()
	return true, err
}
