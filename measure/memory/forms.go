package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
)

// scheme has client-go's types, and metadata alone. It is made when it is first asked for: every
// fork of a run would wait for it.
var scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientscheme.AddToScheme(s))
	utilruntime.Must(metav1.AddMetaToScheme(s))
	return s
})

var decoder = sync.OnceValue(func() runtime.Decoder {
	return serializer.NewCodecFactory(scheme()).UniversalDeserializer()
})

// form is how a client gets a list of objects, and decodes it.
type form struct {
	name string
	// body is what a server sends for a page of JSON objects.
	body func(page [][]byte) ([]byte, error)
	// decode makes a list of it, as client-go's clients do.
	decode func(body []byte) (runtime.Object, error)
	made   map[int][][]byte // by the size of pages
}

// bodies are what a server sends for a sample in pages of a size.
func (f *form) bodies(sample [][]byte, size int) ([][]byte, error) {
	if f.made[size] != nil {
		return f.made[size], nil
	}
	for page := range slices.Chunk(sample, size) {
		body, err := f.body(page)
		if err != nil {
			return nil, err
		}
		f.made[size] = append(f.made[size], body)
	}
	return f.made[size], nil
}

// formsOf are the forms of a kind, by name. It notes whether the sample
// fits the Go types.
func formsOf(k *sampled) map[string]*form {
	lists := k.gvk.GroupVersion().WithKind(k.gvk.Kind + "List")
	forms := map[string]*form{}
	add := func(name string, body func([][]byte) ([]byte, error),
		decode func([]byte) (runtime.Object, error)) {
		f := &form{name, body, decode, map[int][][]byte{}}
		if _, err := f.bodies(k.sample, PageSize); err != nil {
			k.kind.Misfit = true
			return
		}
		forms[name] = f
	}
	add(FormUnstructured, jsonList(lists, nil), untyped)
	add(FormMetadata, asProtobuf(jsonList(
		metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList"), metadataOf)), typed)
	if scheme().Recognizes(k.gvk) && scheme().Recognizes(lists) {
		add(FormTyped, asProtobuf(jsonList(lists, nil)), typed)
	}
	return forms
}

func typed(body []byte) (runtime.Object, error) {
	obj, _, err := decoder().Decode(body, nil, nil)
	return obj, err
}

func untyped(body []byte) (runtime.Object, error) {
	obj, _, err := unstructured.UnstructuredJSONScheme.Decode(body, nil, nil)
	return obj, err
}

// jsonList joins JSON objects to a list of a kind. of, if not nil, changes each object before.
func jsonList(kind schema.GroupVersionKind,
	of func([]byte) ([]byte, error)) func(page [][]byte) ([]byte, error) {
	return func(page [][]byte) ([]byte, error) {
		var out bytes.Buffer
		fmt.Fprintf(&out, `{"apiVersion":%q,"kind":%q,"metadata":{},"items":[`,
			kind.GroupVersion().String(), kind.Kind)
		for i, text := range page {
			if i > 0 {
				out.WriteByte(',')
			}
			if of != nil {
				var err error
				if text, err = of(text); err != nil {
					return nil, err
				}
			}
			out.Write(text)
		}
		out.WriteString("]}")
		return out.Bytes(), nil
	}
}

// metadataOf is what a server sends of an object that is asked for metadata alone.
func metadataOf(text []byte) ([]byte, error) {
	var fields struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil,
		`{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":%s}`,
		fields.Metadata), nil
}

// asProtobuf encodes lists anew.
func asProtobuf(body func([][]byte) ([]byte, error)) func([][]byte) ([]byte, error) {
	return func(page [][]byte) ([]byte, error) {
		text, err := body(page)
		if err != nil {
			return nil, err
		}
		list, err := typed(text)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = protobuf.NewSerializer(scheme(), scheme()).Encode(list, io.Writer(&out))
		return out.Bytes(), err
	}
}
