package apiserver

import (
	"bufio"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// target is a request's parsed path.
type target struct {
	resource    *resource
	namespace   string // "" for all namespaces, or none
	name        string // "" for the collection
	subresource string
}

func (t target) key() string { return t.resource.key(t.namespace, t.name) }

// serve answers a request.
func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	if !s.enter() {
		panic(http.ErrAbortHandler)
	}
	defer s.running.Done()
	s.stats.requests.Add(1)
	a := &response{ResponseWriter: w}
	defer s.recovered(a, req)
	err := checkLocal(req)
	if err == nil {
		err = s.authenticate(req)
	}
	if err != nil {
		s.writeError(a, req, err)
		return
	}
	s.serveLocal(a, req)
}

// serveLocal answers a request that passed the checks.
func (s *Server) serveLocal(w *response, req *http.Request) {
	segments := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	t, notRouted := s.route(segments)
	if !t.watches(req) {
		leave, err := s.inFlight.enter(req.Method)
		if err != nil {
			s.writeError(w, req, err)
			return
		}
		defer leave()
		w.limited = true
		// Go's server flushes its buffer after this, and the connection's next request may
		// be a watch.
		defer w.setDeadline(time.Time{})
	}
	if s.discover(w, req, segments) {
		return
	}
	err := notRouted
	if err == nil {
		err = s.requestFault(req)
	}
	if err == nil {
		err = s.handle(w, req, t)
	}
	if err != nil {
		s.writeError(w, req, forResource(err, t))
	}
}

// authenticate compares the token in constant time.
func (s *Server) authenticate(req *http.Request) error {
	if s.options.Token == "" {
		return nil
	}
	given, bearer := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	if subtle.ConstantTimeCompare([]byte(given), []byte(s.options.Token)) != 1 || !bearer {
		return apierrors.NewUnauthorized("Unauthorized")
	}
	return nil
}

// route finds the resource of a path: /api/v1 or /apis/GROUP/VERSION, then
// [namespaces/NAMESPACE/]RESOURCE[/NAME[/SUBRESOURCE]].
func (s *Server) route(path []string) (target, error) {
	var gv schema.GroupVersion
	rest := path
	switch {
	case path[0] == "api" && len(path) >= 3:
		gv.Version, rest = path[1], path[2:]
	case path[0] == "apis" && len(path) >= 4:
		gv.Group, gv.Version, rest = path[1], path[2], path[3:]
	default:
		return target{}, s.notServed(path)
	}
	var t target
	if rest[0] == "namespaces" && len(rest) >= 3 && rest[2] != "status" {
		t.namespace, rest = rest[1], rest[2:]
	}
	t.resource = s.resources[gv.WithResource(rest[0])]
	if t.resource == nil || len(rest) > 3 || t.namespace != "" && !t.resource.namespaced {
		return target{}, s.notServed(path)
	}
	if len(rest) > 1 {
		t.name = rest[1]
	}
	if len(rest) > 2 {
		t.subresource = rest[2]
	}
	switch {
	case t.subresource != "" && (t.subresource != "status" || !t.resource.status),
		t.name != "" && t.namespace == "" && t.resource.namespaced:
		return target{}, s.notServed(path)
	}
	return t, nil
}

// notServed is the answer to an unknown path.
func (s *Server) notServed(path []string) error {
	var have []string
	for gvr := range maps.Keys(s.resources) {
		have = append(have, gvr.GroupVersion().String()+"/"+gvr.Resource)
	}
	slices.Sort(have)
	return statusError(http.StatusNotFound, metav1.StatusReasonNotFound,
		fmt.Sprintf("the server could not find the requested resource: /%s; it serves %s",
			strings.Join(path, "/"), strings.Join(have, ", ")))
}

// handle carries out the request's method on the target.
func (s *Server) handle(w http.ResponseWriter, req *http.Request, t target) error {
	method := req.Method
	if err := t.checkPath(method == http.MethodPost); err != nil {
		return err
	}
	if method == http.MethodHead && t.resource.custom {
		method = http.MethodGet // for other resources a real server answers 405
	}
	if t.resource.namespaced && t.namespace == "" && !reads(method) {
		// All namespaces together support list and watch only.
		if t.resource.custom {
			return s.notServed(strings.Split(strings.Trim(req.URL.Path, "/"), "/"))
		}
		return t.notSupported(req.Method)
	}
	if method != http.MethodGet {
		// Checked before any write: a write must not succeed without an answer that the
		// client accepts.
		if _, err := s.negotiate(req, t.resource, false); err != nil {
			return err
		}
	}
	switch {
	case t.name == "" && method == http.MethodGet:
		return s.listOrWatch(w, req, t)
	case t.name == "" && method == http.MethodPost:
		return s.create(w, req, t)
	case t.name == "" && method == http.MethodDelete:
		return s.deleteCollection(w, req, t)
	case t.name != "" && method == http.MethodGet:
		return s.get(w, req, t)
	case t.name != "" && method == http.MethodPut:
		return s.update(w, req, t)
	case t.name != "" && method == http.MethodPatch:
		return s.patch(w, req, t)
	case t.name != "" && method == http.MethodDelete && t.subresource == "":
		return s.delete(w, req, t)
	}
	if t.resource.custom && t.name == "" && (method == http.MethodPut || method == http.MethodPatch) {
		return apierrors.NewBadRequest("name must be provided")
	}
	return t.notSupported(req.Method)
}

func (t target) notSupported(method string) error {
	return apierrors.NewMethodNotSupported(t.resource.gvr.GroupResource(), strings.ToLower(method))
}

// listOptions reads the query and adds the path's namespace to the field selector.
func (s *Server) listOptions(req *http.Request, t target) (metav1.ListOptions, error) {
	var o metav1.ListOptions
	if err := decodeQuery(req, &o); err != nil {
		return o, err
	}
	if err := t.checkFields(o.FieldSelector); err != nil {
		return o, err
	}
	if t.namespace != "" {
		own := "metadata.namespace=" + fields.EscapeValue(t.namespace)
		if o.FieldSelector != "" {
			own += "," + o.FieldSelector
		}
		o.FieldSelector = own
	}
	return o, nil
}

// checkFields refuses the field metadata.namespace for objects without a namespace, as an
// unknown field.
func (t target) checkFields(selector string) error {
	parsed, err := fields.ParseSelector(selector)
	if err != nil || t.resource.namespaced {
		return nil // the source reports the error
	}
	for _, r := range parsed.Requirements() {
		if r.Field == "metadata.namespace" {
			return apierrors.NewBadRequest("field label not supported: metadata.namespace")
		}
	}
	return nil
}

// parameters decodes options from queries, as metav1 registers them for every group.
var parameters = func() runtime.ParameterCodec {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return runtime.NewParameterCodec(scheme)
}()

func decodeQuery(req *http.Request, into runtime.Object) error {
	if err := parameters.DecodeParameters(req.URL.Query(), schema.GroupVersion{Version: "v1"},
		into); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("the query %q: %v", req.URL.RawQuery, err))
	}
	return nil
}

// respond encodes obj, whose kind is set, directly into the answer.
func (s *Server) respond(w http.ResponseWriter, m media, code int, obj runtime.Object) {
	w.Header().Set("Content-Type", m.contentType(false))
	w.Header().Set("Cache-Control", "no-cache, private")
	w.WriteHeader(code)
	buffer := bufio.NewWriterSize(w, responseBuffer)
	if err := errors.Join(m.info.Serializer.Encode(obj, buffer), buffer.Flush()); err != nil {
		// Too late for another answer: the client must see that this one is incomplete.
		panic(http.ErrAbortHandler)
	}
}

const responseBuffer = 64 << 10

// respondObject answers with one object of the target.
func (s *Server) respondObject(w http.ResponseWriter, req *http.Request, t target, code int,
	obj runtime.Object) error {
	m, err := s.negotiate(req, t.resource, false)
	if err != nil {
		return err
	}
	s.respond(w, m, code, m.object(obj, t.resource.gvk))
	return nil
}

func (s *Server) writeError(w http.ResponseWriter, req *http.Request, err error) {
	m, notAcceptable := s.negotiate(req, nil, false)
	if notAcceptable != nil {
		m = s.plain()
	}
	status := statusOf(err)
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	s.respond(w, m, int(status.Code), &status)
}

// statusKind is v1 for every group, not meta.k8s.io/v1, where the Go type is.
var statusKind = schema.GroupVersionKind{Version: "v1", Kind: "Status"}

func statusOf(err error) metav1.Status {
	var api apierrors.APIStatus
	if !errors.As(err, &api) {
		api = apierrors.NewInternalError(err)
	}
	status := api.Status()
	status.SetGroupVersionKind(statusKind)
	return status
}

// forResource gives a source's error the resource and the name that clients know.
func forResource(err error, t target) error {
	var api *apierrors.StatusError
	if t.resource == nil || !errors.As(err, &api) {
		return err
	}
	gr := t.resource.gvr.GroupResource()
	if d := api.ErrStatus.Details; d != nil && d.Group == gr.Group && d.Kind == gr.Resource {
		return err // it has them, and a name that the path need not contain
	}
	switch {
	case apierrors.IsNotFound(err):
		return apierrors.NewNotFound(gr, t.name)
	case apierrors.IsAlreadyExists(err):
		return apierrors.NewAlreadyExists(gr, t.name)
	}
	return err
}

func statusError(code int, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	}}
}
