package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// maxBody is the apiserver's limit of a request's body.
const maxBody = 3 << 20

// readBody returns the body and its media type, JSON if it does not say.
func readBody(w http.ResponseWriter, req *http.Request) (data []byte, mediaType string, err error) {
	data, err = io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, "", apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	if err != nil {
		return nil, "", apierrors.NewBadRequest(fmt.Sprintf("read the body: %v", err))
	}
	mediaType = runtime.ContentTypeJSON
	if header := req.Header.Get("Content-Type"); header != "" {
		if mediaType, _, err = mime.ParseMediaType(header); err != nil {
			return nil, "", unsupported(header, runtime.ContentTypeJSON)
		}
	}
	return data, mediaType, nil
}

func unsupported(mediaType string, supported ...string) error {
	return statusError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		fmt.Sprintf("the body of the request was in an unknown format (%s): use one of %s", mediaType, strings.Join(supported, ", ")))
}

// decodeBody reads an object of the resource; it belongs to the caller. A typed one
// comes without its kind, as sources hold them.
func (s *Server) decodeBody(w http.ResponseWriter, req *http.Request, r *resource) (runtime.Object, error) {
	data, mediaType, err := readBody(w, req)
	if err != nil {
		return nil, err
	}
	supported := []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML}
	if r.protobuf {
		supported = append(supported, runtime.ContentTypeProtobuf)
	}
	switch mediaType {
	case runtime.ContentTypeYAML:
		if data, err = yaml.ToJSON(data); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("the body is no YAML: %v", err))
		}
	case runtime.ContentTypeJSON:
	case runtime.ContentTypeProtobuf:
		if !r.protobuf {
			return nil, unsupported(mediaType, supported...)
		}
	default:
		return nil, unsupported(mediaType, supported...)
	}
	return s.decode(r, data)
}

// decode reads an object of the resource from JSON or Protobuf.
func (s *Server) decode(r *resource, data []byte) (runtime.Object, error) {
	decoder := s.codecs.UniversalDeserializer()
	if r.unstructured {
		decoder = unstructured.UnstructuredJSONScheme
	}
	obj, kind, err := decoder.Decode(data, &r.gvk, nil)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized: %v", err))
	}
	if *kind != r.gvk {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in the body, %s is served here", kind, r.gvk))
	}
	if !r.unstructured {
		obj.GetObjectKind().SetGroupVersionKind(r.source.Example().GetObjectKind().GroupVersionKind())
	}
	return obj, nil
}

// decodeDeleteOptions reads options from a body, if there is one.
func (s *Server) decodeDeleteOptions(w http.ResponseWriter, req *http.Request, into *metav1.DeleteOptions) error {
	data, mediaType, err := readBody(w, req)
	if err != nil || len(data) == 0 {
		return err
	}
	switch mediaType {
	case runtime.ContentTypeYAML, runtime.ContentTypeJSON:
		if data, err = yaml.ToJSON(data); err != nil { // JSON stays what it is
			break
		}
		// Whatever group the client takes them from, they are the same.
		err = json.Unmarshal(data, into)
	case runtime.ContentTypeProtobuf:
		_, _, err = s.codecs.UniversalDeserializer().Decode(data, &deleteOptionsKind, into)
	default:
		return unsupported(mediaType, runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf)
	}
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("the delete options: %v", err))
	}
	return nil
}

// patch applies a JSON merge patch, or a strategic one to a type that has Go fields
// with patch tags.
func (s *Server) patch(w http.ResponseWriter, req *http.Request, t target) error {
	var o metav1.PatchOptions
	if err := decodeQuery(req, &o); err != nil {
		return err
	}
	dry, err := dryRun(o.DryRun)
	if err != nil {
		return err
	}
	data, mediaType, err := readBody(w, req)
	if err != nil {
		return err
	}
	apply, err := patcher(t.resource, types.PatchType(mediaType))
	if err != nil {
		return err
	}
	next, err := s.modify(t, dry, func(current runtime.Object) (runtime.Object, error) {
		original, err := json.Marshal(withKind(current, t.resource.gvk))
		if err != nil {
			return nil, err
		}
		patched, err := apply(original, data)
		if err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("the patch does not apply: %v", err))
		}
		obj, err := s.decode(t.resource, patched)
		if err != nil {
			return nil, err
		}
		return obj, s.checkNames(t, accessorOf(obj))
	})
	if err != nil {
		return err
	}
	return s.respondObject(w, req, t, http.StatusOK, next)
}

func patcher(r *resource, kind types.PatchType) (func(original, patch []byte) ([]byte, error), error) {
	switch {
	case kind == types.MergePatchType:
		return mergePatch, nil
	case kind == types.StrategicMergePatchType && !r.unstructured:
		return func(original, patch []byte) ([]byte, error) {
			return strategicpatch.StrategicMergePatch(original, patch, r.source.Example())
		}, nil
	case r.unstructured:
		return nil, unsupported(string(kind), string(types.MergePatchType))
	default:
		return nil, unsupported(string(kind), string(types.MergePatchType), string(types.StrategicMergePatchType))
	}
}

// mergePatch is RFC 7386. Integers stay integers.
func mergePatch(original, patch []byte) ([]byte, error) {
	var into, from map[string]any
	if err := utiljson.Unmarshal(original, &into); err != nil {
		return nil, err
	}
	if err := utiljson.Unmarshal(patch, &from); err != nil {
		return nil, err
	}
	merge(into, from)
	return json.Marshal(into)
}

func merge(into, from map[string]any) {
	for key, value := range from {
		switch value := value.(type) {
		case nil:
			delete(into, key)
		case map[string]any:
			below, ok := into[key].(map[string]any)
			if !ok {
				below = map[string]any{}
				into[key] = below
			}
			merge(below, value)
		default:
			into[key] = value
		}
	}
}
