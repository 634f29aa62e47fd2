package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/load/synthetic"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// maxBody is the apiserver's limit of a request's body.
const maxBody = 3 << 20

// readBody returns the body and its media type, "" if there is none. "" is never a
// supported type: a browser lets any page send a body without a type, or with one of three
// types that are not supported either.
func readBody(w http.ResponseWriter, req *http.Request) (data []byte, mediaType string, err error) {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(bodyTimeout)); err != nil {
		return nil, "", apierrors.NewInternalError(err)
	}
	data, err = io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, "", apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, "", statusError(http.StatusRequestTimeout, metav1.StatusReasonTimeout,
			fmt.Sprintf("the body did not come within %v", bodyTimeout))
	case err != nil:
		return nil, "", apierrors.NewBadRequest(fmt.Sprintf("read the body: %v", err))
	}
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return nil, "", apierrors.NewInternalError(err)
	}
	if header := req.Header.Get("Content-Type"); header != "" {
		if mediaType, _, err = mime.ParseMediaType(header); err != nil {
			return nil, "", unsupported(header, runtime.ContentTypeJSON)
		}
	}
	return data, mediaType, nil
}

func unsupported(mediaType string, supported ...string) error {
	return statusError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		fmt.Sprintf("the body of the request was in an unknown format (Content-Type %q): use one of %s",
			mediaType, strings.Join(supported, ", ")))
}

// decodeBody reads an object of the resource; it belongs to the caller. A typed object
// comes without its kind, as in sources.
func (s *Server) decodeBody(w http.ResponseWriter, req *http.Request, r *resource,
	strictness string) (runtime.Object, error) {
	data, mediaType, err := readBody(w, req)
	if err != nil {
		return nil, err
	}
	supported := []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML}
	if r.protobuf {
		supported = append(supported, runtime.ContentTypeProtobuf)
	}
	if !slices.Contains(supported, mediaType) {
		return nil, unsupported(mediaType, supported...)
	}
	obj, err := s.decode(w, r, mediaType, data, strictness)
	if err != nil {
		return nil, err
	}
	if gv := obj.GetObjectKind().GroupVersionKind().GroupVersion(); r.unstructured &&
		gv != r.gvk.GroupVersion() {
		return nil, r.otherVersion(gv)
	}
	return obj, nil
}

// checkTypes refuses metadata whose fields have wrong types; such fields would be read as
// missing.
func checkTypes(u *unstructured.Unstructured) error {
	metadata, err := json.Marshal(u.Object["metadata"])
	if err != nil {
		return err
	}
	return json.Unmarshal(metadata, &metav1.ObjectMeta{})
}

func (r *resource) otherVersion(gv schema.GroupVersion) error {
	return apierrors.NewBadRequest(
		fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", gv,
			r.gvk.GroupVersion()))
}

// decode reads an object of the resource. strictness decides about fields that its type
// does not have, and fields that occur twice: an error, a warning in the answer (the
// default) or nothing. Unstructured objects may have any field, but none twice.
func (s *Server) decode(w http.ResponseWriter, r *resource, mediaType string, data []byte,
	strictness string) (runtime.Object, error) {
	info, _ := runtime.SerializerInfoForMediaType(s.codecs.SupportedMediaTypes(), mediaType)
	decoder := info.StrictSerializer
	if strictness == metav1.FieldValidationIgnore {
		decoder = info.Serializer
	}
	var into runtime.Object
	if r.unstructured {
		into = &unstructured.Unstructured{}
	}
	obj, kind, err := decoder.Decode(data, &r.gvk, into)
	if odd, ok := runtime.AsStrictDecodingError(err); ok &&
		strictness != metav1.FieldValidationStrict {
		warn(w, odd.Errors())
		err = nil
	}
	if err == nil && r.unstructured {
		err = checkTypes(obj.(*unstructured.Unstructured))
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized: %v", err))
	}
	switch {
	case r.custom && r.unstructured: // it contains its kind, and checkMeta validates that
	case kind.GroupVersion() != r.gvk.GroupVersion():
		return nil, r.otherVersion(kind.GroupVersion())
	case kind.Kind != r.gvk.Kind && r.custom:
		return nil, r.checkKind(*kind, synthetic.Accessor(obj).GetName())
	case kind.Kind != r.gvk.Kind:
		return nil, apierrors.NewBadRequest(
			fmt.Sprintf("%s in version %q cannot be handled as a %s", kind.Kind, kind.Version, r.gvk.Kind))
	}
	if !r.unstructured {
		obj.GetObjectKind().SetGroupVersionKind(r.source.Example().GetObjectKind().GroupVersionKind())
	}
	return obj, nil
}

// warn puts warnings into the answer's header and removes earlier ones. Warnings that no
// header can hold, because a field's name has control characters, are left out.
func warn(w http.ResponseWriter, about []error) {
	w.Header().Del("Warning")
	for _, odd := range about {
		if header, err := utilnet.NewWarningHeader(299, "-", odd.Error()); err == nil {
			w.Header().Add("Warning", header)
		}
	}
}

// decodeDeleteOptions reads options from the body, if there is one, else from the query.
func (s *Server) decodeDeleteOptions(w http.ResponseWriter, req *http.Request,
	into *metav1.DeleteOptions) error {
	data, mediaType, err := readBody(w, req)
	switch {
	case err != nil:
		return err
	case len(data) == 0:
		return decodeQuery(req, into)
	}
	switch mediaType {
	case runtime.ContentTypeYAML, runtime.ContentTypeJSON:
		if data, err = yaml.ToJSON(data); err != nil { // JSON stays unchanged
			break
		}
		if err = json.Unmarshal(data, into); err == nil && into.Kind != "" &&
			into.Kind != deleteOptionsKind.Kind {
			err = fmt.Errorf("a %s is no %s", into.Kind, deleteOptionsKind.Kind)
		}
	case runtime.ContentTypeProtobuf:
		_, _, err = s.codecs.UniversalDeserializer().Decode(data, &deleteOptionsKind, into)
	default:
		return unsupported(mediaType, runtime.ContentTypeJSON, runtime.ContentTypeYAML,
			runtime.ContentTypeProtobuf)
	}
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("the delete options: %v", err))
	}
	return nil
}

// patch applies a JSON patch, a JSON merge patch, or a strategic merge patch. The last
// needs a type whose Go fields have patch tags.
func (s *Server) patch(w http.ResponseWriter, req *http.Request, t target) error {
	var o metav1.PatchOptions
	if err := decodeQuery(req, &o); err != nil {
		return err
	}
	data, mediaType, err := readBody(w, req)
	if err != nil {
		return err
	}
	kind := types.PatchType(mediaType)
	apply, err := s.patcher(t.resource, kind)
	if err == nil {
		err = invalidOptions("PatchOptions", validation.ValidatePatchOptions(&o, kind))
	}
	if err != nil {
		return err
	}
	next, err := s.modify(t, isDry(o.DryRun), func(current runtime.Object) (runtime.Object, error) {
		original, err := json.Marshal(withKind(current, t.resource.gvk))
		if err != nil {
			return nil, err
		}
		patched, err := apply(original, data)
		var api apierrors.APIStatus
		switch {
		case errors.As(err, &api):
			return nil, err
		case err != nil:
			return nil, apierrors.NewBadRequest(fmt.Sprintf("the patch does not apply: %v", err))
		}
		obj, err := s.decode(w, t.resource, runtime.ContentTypeJSON, patched, o.FieldValidation)
		if err != nil {
			// The patch is valid and its result is not.
			return nil, invalid(schema.GroupKind{}, "",
				field.ErrorList{field.Invalid(field.NewPath("patch"), string(patched), err.Error())})
		}
		m := synthetic.Accessor(obj)
		if uid := m.GetUID(); uid != "" && uid != synthetic.Accessor(current).GetUID() {
			// In a patch a UID is a change, not a precondition.
			return nil, invalid(t.resource.gvk.GroupKind(), t.name,
				field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), uid, "field is immutable")})
		}
		return obj, t.checkIdentity(m)
	})
	if err != nil {
		return err
	}
	return s.respondObject(w, req, t, http.StatusOK, next)
}

func (s *Server) patcher(r *resource,
	kind types.PatchType) (func(original, patch []byte) ([]byte, error), error) {
	supported := []string{string(types.JSONPatchType), string(types.MergePatchType)}
	typed, err := s.options.Scheme.New(r.gvk) // a recording's pods are unstructured, and still pods
	if err == nil {
		supported = append(supported, string(types.StrategicMergePatchType))
	}
	switch {
	case kind == types.JSONPatchType:
		return jsonPatch, nil
	case kind == types.MergePatchType:
		return mergePatch, nil
	case kind == types.StrategicMergePatchType && err == nil:
		return func(original, patch []byte) ([]byte, error) {
			return strategicpatch.StrategicMergePatch(original, patch, typed)
		}, nil
	}
	return nil, unsupported(string(kind), supported...)
}

// maxOperations is the apiserver's limit of a JSON patch.
const maxOperations = 10_000

func init() {
	// Each copy in a patch may double the object. The library has only a global for the
	// limit, which the apiserver sets too.
	jsonpatch.AccumulatedCopySizeLimit = maxBody
}

// jsonPatch applies RFC 6902. An operation that does not fit the object is a 422, as at an
// apiserver.
func jsonPatch(original, patch []byte) ([]byte, error) {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	if len(operations) > maxOperations {
		return nil, apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("a JSON patch has at most %d operations, this one %d", maxOperations,
				len(operations)))
	}
	patched, err := operations.Apply(original)
	if err != nil {
		return nil, statusError(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid,
			fmt.Sprintf("the patch does not apply: %v", err))
	}
	return patched, nil
}

// mergePatch applies RFC 7386. Integers stay integers.
func mergePatch(original, patch []byte) ([]byte, error) {
	var into, from map[string]any
	if err := utiljson.Unmarshal(original, &into); err != nil {
		return nil, err
	}
	if err := utiljson.Unmarshal(patch, &from); err != nil {
		return nil, err
	}
	if from == nil {
		return nil, errors.New("null is no object")
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
