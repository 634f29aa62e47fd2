package apiserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// accessorOf returns the metadata of what a source holds or a request decoded to,
// both of which are objects.
func accessorOf(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(fmt.Sprintf("apiserver: a %T is no Kubernetes object: %v", obj, err))
	}
	return m
}

func dryRun(values []string) (bool, error) {
	for _, v := range values {
		if v != metav1.DryRunAll {
			return false, apierrors.NewBadRequest(fmt.Sprintf("dryRun %q: use %s", v, metav1.DryRunAll))
		}
	}
	return len(values) > 0, nil
}

// create takes the object as it is, status and all, and gives it a name if it asks
// for one, a UID and the time.
func (s *Server) create(w http.ResponseWriter, req *http.Request, t target) error {
	r := t.resource
	if r.namespaced && t.namespace == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s have a namespace: create one at .../namespaces/NAMESPACE/%s", r.gvr.Resource, r.gvr.Resource))
	}
	var o metav1.CreateOptions
	if err := decodeQuery(req, &o); err != nil {
		return err
	}
	dry, err := dryRun(o.DryRun)
	if err != nil {
		return err
	}
	obj, err := s.decodeBody(w, req, r, o.FieldValidation)
	if err != nil {
		return err
	}
	m := accessorOf(obj)
	generate := m.GetName() == "" && m.GetGenerateName() != ""
	if generate {
		m.SetName(generatedName(m))
	}
	t.name = m.GetName()
	if err := s.checkNames(t, m); err != nil {
		return err
	}
	if m.GetResourceVersion() != "" {
		return apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	m.SetUID(uuid.NewUUID())
	m.SetCreationTimestamp(metav1.NewTime(s.options.Clock.Now()).Rfc3339Copy()) // whole seconds, as any encoding has them
	m.SetDeletionTimestamp(nil)
	if dry {
		if _, exists := r.source.Get(t.key()); exists && !generate {
			return apierrors.NewAlreadyExists(r.gvr.GroupResource(), t.name)
		}
		return s.respondObject(w, req, t, http.StatusCreated, obj)
	}
	created, err := r.source.Create(obj)
	for try := 1; generate && apierrors.IsAlreadyExists(err) && try < nameTries; try++ {
		t.name = generatedName(m)
		m.SetName(t.name)
		created, err = r.source.Create(obj)
	}
	if err != nil {
		return forResource(err, t)
	}
	return s.respondObject(w, req, t, http.StatusCreated, created)
}

// nameTries is how many names are made up before a create fails because they exist:
// of ten thousand names with five random letters a few are there twice.
const nameTries = 8

func generatedName(m metav1.Object) string { return m.GetGenerateName() + utilrand.String(5) }

// checkNames holds an object to its path, and fills in the namespace.
func (s *Server) checkNames(t target, m metav1.Object) error {
	if m.GetNamespace() == "" {
		m.SetNamespace(t.namespace)
	}
	if m.GetNamespace() != t.namespace {
		return apierrors.NewBadRequest(fmt.Sprintf("the namespace of the provided object does not match the namespace sent on the request: %q, %q", m.GetNamespace(), t.namespace))
	}
	if m.GetName() != t.name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", m.GetName(), t.name))
	}
	at := field.NewPath("metadata", "name")
	if t.name == "" {
		return apierrors.NewInvalid(t.resource.gvk.GroupKind(), t.name, field.ErrorList{field.Required(at, "name or generateName is required")})
	}
	if problems := content.IsPathSegmentName(t.name); len(problems) > 0 {
		return apierrors.NewInvalid(t.resource.gvk.GroupKind(), t.name, field.ErrorList{field.Invalid(at, t.name, strings.Join(problems, "; "))})
	}
	return nil
}

func (s *Server) update(w http.ResponseWriter, req *http.Request, t target) error {
	var o metav1.UpdateOptions
	if err := decodeQuery(req, &o); err != nil {
		return err
	}
	dry, err := dryRun(o.DryRun)
	if err != nil {
		return err
	}
	obj, err := s.decodeBody(w, req, t.resource, o.FieldValidation)
	if err != nil {
		return err
	}
	if err := s.checkNames(t, accessorOf(obj)); err != nil {
		return err
	}
	next, err := s.modify(t, dry, func(runtime.Object) (runtime.Object, error) { return shallowCopy(obj), nil })
	if err != nil {
		return err
	}
	return s.respondObject(w, req, t, http.StatusOK, next)
}

// modify replaces the target by what change makes of its present state. It reads
// and asks again if somebody else writes in between, unless what it is given names
// the version that it is made from: then that is a conflict. What does not change
// anything is not written, and what lets go of the last finalizer of an object that
// is being deleted deletes it.
func (s *Server) modify(t target, dry bool, change func(current runtime.Object) (runtime.Object, error)) (runtime.Object, error) {
	r := t.resource
	for {
		current, exists := r.source.Get(t.key())
		if !exists {
			return nil, apierrors.NewNotFound(r.gvr.GroupResource(), t.name)
		}
		next, err := change(current)
		if err != nil {
			return nil, err
		}
		was, m := accessorOf(current), accessorOf(next)
		if err := precondition(t, was, m.GetUID(), m.GetResourceVersion()); err != nil {
			return nil, err
		}
		next = r.take(current, next, t.subresource)
		if apiequality.Semantic.DeepEqual(current, next) || dry {
			return next, nil
		}
		m = accessorOf(next)
		var written runtime.Object
		if m.GetDeletionTimestamp() != nil && len(m.GetFinalizers()) == 0 {
			written, err = r.source.DeleteFrom(t.key(), was.GetResourceVersion())
		} else {
			written, err = r.source.UpdateFrom(next, was.GetResourceVersion())
		}
		if !apierrors.IsConflict(err) {
			return written, forResource(err, t)
		}
	}
}

// precondition compares the UID and the version that a request names, if it does,
// with those of the object.
func precondition(t target, was metav1.Object, uid types.UID, version string) error {
	switch {
	case uid != "" && uid != was.GetUID():
		return apierrors.NewConflict(t.resource.gvr.GroupResource(), t.name,
			fmt.Errorf("the precondition names the UID %s, the object has %s", uid, was.GetUID()))
	case version != "" && version != was.GetResourceVersion():
		return apierrors.NewConflict(t.resource.gvr.GroupResource(), t.name,
			fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again (resource version %s, now %s)", version, was.GetResourceVersion()))
	}
	return nil
}

// take makes the object to be stored out of the present one and what a request
// wants: through the status subresource the status alone, otherwise all but the
// status and what the server alone decides.
func (r *resource) take(current, wanted runtime.Object, subresource string) runtime.Object {
	if subresource == "status" {
		next := shallowCopy(current)
		r.setStatus(next, wanted)
		return next
	}
	was, m := accessorOf(current), accessorOf(wanted)
	m.SetUID(was.GetUID())
	m.SetResourceVersion(was.GetResourceVersion())
	m.SetCreationTimestamp(was.GetCreationTimestamp())
	m.SetDeletionTimestamp(was.GetDeletionTimestamp())
	m.SetDeletionGracePeriodSeconds(was.GetDeletionGracePeriodSeconds())
	wanted.GetObjectKind().SetGroupVersionKind(current.GetObjectKind().GroupVersionKind())
	if r.status {
		r.setStatus(wanted, current)
	}
	return wanted
}

func (s *Server) delete(w http.ResponseWriter, req *http.Request, t target) error {
	o, dry, err := s.deleteOptions(w, req)
	if err != nil {
		return err
	}
	m, err := s.negotiate(req, t.resource, false) // a Status has no other form: it comes as it is
	if err != nil {
		return err
	}
	obj, err := s.remove(t, o.Preconditions, dry)
	if err != nil {
		return err
	}
	status := &metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusOK, Details: &metav1.StatusDetails{
		Name: t.name, Group: t.resource.gvr.Group, Kind: t.resource.gvr.Resource, UID: accessorOf(obj).GetUID(),
	}}
	status.SetGroupVersionKind(statusKind)
	s.respond(w, m, http.StatusOK, status)
	return nil
}

func (s *Server) deleteOptions(w http.ResponseWriter, req *http.Request) (o metav1.DeleteOptions, dry bool, err error) {
	if err = decodeQuery(req, &o); err == nil {
		err = s.decodeDeleteOptions(w, req, &o)
	}
	if err == nil {
		dry, err = dryRun(o.DryRun)
	}
	return o, dry, err
}

// remove deletes the target, or, while it has finalizers, says when that was asked for.
func (s *Server) remove(t target, p *metav1.Preconditions, dry bool) (runtime.Object, error) {
	r := t.resource
	for {
		current, exists := r.source.Get(t.key())
		if !exists {
			return nil, apierrors.NewNotFound(r.gvr.GroupResource(), t.name)
		}
		was := accessorOf(current)
		if p != nil {
			if err := precondition(t, was, deref(p.UID), deref(p.ResourceVersion)); err != nil {
				return nil, err
			}
		}
		var obj runtime.Object
		var err error
		switch {
		case dry, len(was.GetFinalizers()) > 0 && was.GetDeletionTimestamp() != nil:
			return current, nil
		case len(was.GetFinalizers()) > 0:
			next := shallowCopy(current)
			now := metav1.NewTime(s.options.Clock.Now()).Rfc3339Copy()
			accessorOf(next).SetDeletionTimestamp(&now)
			obj, err = r.source.UpdateFrom(next, was.GetResourceVersion())
		default:
			obj, err = r.source.DeleteFrom(t.key(), was.GetResourceVersion())
		}
		if !apierrors.IsConflict(err) {
			return obj, forResource(err, t)
		}
	}
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// deleteCollection deletes what a list with the same query gives, one by one, and
// answers with that list.
func (s *Server) deleteCollection(w http.ResponseWriter, req *http.Request, t target) error {
	o, err := s.listOptions(req, t)
	if err != nil {
		return err
	}
	_, dry, err := s.deleteOptions(w, req)
	if err != nil {
		return err
	}
	m, err := s.negotiate(req, t.resource, false)
	if err != nil {
		return err
	}
	listed, err := t.resource.source.ListWithContext(req.Context(), o)
	if err != nil {
		return err
	}
	list := listed.(*metainternal.List)
	list.Items = slices.Clone(list.Items)
	for _, obj := range list.Items {
		one := accessorOf(obj)
		uid := one.GetUID()
		each := target{resource: t.resource, namespace: one.GetNamespace(), name: one.GetName()}
		_, err := s.remove(each, &metav1.Preconditions{UID: &uid}, dry)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err // gone or made anew since: not of this list
		}
	}
	answer, err := s.listOf(t.resource, m, list)
	if err != nil {
		return err
	}
	s.respond(w, m, http.StatusOK, answer)
	return nil
}

// deleteOptionsKind is what a body is taken for that does not say.
var deleteOptionsKind = schema.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}
