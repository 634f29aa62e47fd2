package apiserver

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/informerbench/informerbench/load/synthetic"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// isDry reports whether a request, whose options are valid, must not change anything.
func isDry(dryRun []string) bool { return len(dryRun) > 0 }

// create stores the object unchanged, including its status. It sets a UID and the creation
// time, and a name if one is to be generated.
func (s *Server) create(w http.ResponseWriter, req *http.Request, t target) error {
	r := t.resource
	var o metav1.CreateOptions
	if err := decodeQuery(req, &o); err != nil {
		return err
	}
	if err := invalidOptions("CreateOptions", validation.ValidateCreateOptions(&o)); err != nil {
		return err
	}
	obj, err := s.decodeBody(w, req, r, o.FieldValidation)
	if err != nil {
		return err
	}
	m := synthetic.Accessor(obj)
	generate := m.GetName() == "" && m.GetGenerateName() != ""
	if generate {
		m.SetName(generatedName(m))
	}
	t.name = m.GetName()
	if err := t.checkNamespace(m); err != nil {
		return err
	}
	if r.custom {
		m.SetGeneration(1)
	}
	m.SetSelfLink("")
	if err := r.checkMeta(obj, nil); err != nil {
		return err
	}
	if m.GetResourceVersion() != "" {
		return apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	m.SetUID(uuid.NewUUID())
	// whole seconds, as in any encoding
	m.SetCreationTimestamp(metav1.NewTime(s.options.Clock.Now()).Rfc3339Copy())
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	if isDry(o.DryRun) {
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

// nameTries is how many generated names a create tries before it fails because they exist.
// Among ten thousand names with five random letters a few collide.
const nameTries = 8

// generatedName cuts the base as an API server does, so that the name may be a label's value
// (k8s.io/apiserver, pkg/storage/names).
func generatedName(m metav1.Object) string {
	const longest, letters = 63, 5
	base := m.GetGenerateName()
	return base[:min(len(base), longest-letters)] + utilrand.String(letters)
}

func (s *Server) update(w http.ResponseWriter, req *http.Request, t target) error {
	var o metav1.UpdateOptions
	if err := decodeQuery(req, &o); err != nil {
		return err
	}
	if err := invalidOptions("UpdateOptions", validation.ValidateUpdateOptions(&o)); err != nil {
		return err
	}
	obj, err := s.decodeBody(w, req, t.resource, o.FieldValidation)
	if err != nil {
		return err
	}
	if err := t.checkIdentity(synthetic.Accessor(obj)); err != nil {
		return err
	}
	next, err := s.modify(t, isDry(o.DryRun), func(runtime.Object) (runtime.Object, error) {
		return synthetic.ShallowCopy(obj), nil
	})
	if err != nil {
		return err
	}
	return s.respondObject(w, req, t, http.StatusOK, next)
}

// modify replaces the target by the result of change on its current state. If another
// client writes in between, it reads and calls change again; if the new object names the
// version it is based on, that is a conflict instead. An unchanged object is not written.
// An object that is being deleted is deleted when its last finalizer goes.
func (s *Server) modify(t target, dry bool,
	change func(current runtime.Object) (runtime.Object, error)) (runtime.Object, error) {
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
		was, m := synthetic.Accessor(current), synthetic.Accessor(next)
		if m.GetResourceVersion() == "0" {
			m.SetResourceVersion("") // to a real server they are equal
		}
		if err := precondition(t, was, m.GetUID(), m.GetResourceVersion()); err != nil {
			return nil, err
		}
		if err := r.checkUpdate(current, next, t.subresource); err != nil {
			return nil, err
		}
		next = r.take(current, next, t.subresource)
		if apiequality.Semantic.DeepEqual(current, next) || dry {
			return next, nil
		}
		m = synthetic.Accessor(next)
		var written runtime.Object
		if lastFinalizerGone(was, m) {
			// The answer is what was written; the event has the object as it was.
			_, err = r.source.DeleteFrom(t.key(), was.GetResourceVersion())
			written = next
		} else {
			written, err = r.source.UpdateFrom(next, was.GetResourceVersion())
		}
		if !apierrors.IsConflict(err) {
			return written, forResource(err, t)
		}
	}
}

// lastFinalizerGone reports whether an update ends the wait of an object that is being deleted.
// One with a grace period, such as a pod of a recording, waits for its kubelet's DELETE.
func lastFinalizerGone(was, m metav1.Object) bool {
	grace := was.GetDeletionGracePeriodSeconds()
	return was.GetDeletionTimestamp() != nil && (grace == nil || *grace == 0) &&
		len(m.GetFinalizers()) == 0
}

// precondition compares the UID and the version that a request names, if any, with those of
// the object.
func precondition(t target, was metav1.Object, uid types.UID, version string) error {
	switch {
	case uid != "" && uid != was.GetUID():
		return apierrors.NewConflict(t.resource.gvr.GroupResource(), t.name,
			fmt.Errorf("the precondition names the UID %s, the object has %s", uid, was.GetUID()))
	case version != "" && version != was.GetResourceVersion():
		return apierrors.NewConflict(t.resource.gvr.GroupResource(), t.name,
			fmt.Errorf("the object has been modified; please apply your changes to the latest version "+
				"and try again (resource version %s, now %s)", version, was.GetResourceVersion()))
	}
	return nil
}

// checkUpdate validates an update. The status subresource does not change metadata.
func (r *resource) checkUpdate(current, next runtime.Object, subresource string) error {
	m := synthetic.Accessor(next)
	if !r.unconditional() && m.GetResourceVersion() == "" &&
		synthetic.Accessor(current).GetResourceVersion() != "" {
		kind := schema.GroupKind{Group: r.gvr.Group, Kind: r.gvr.Resource} // as a real server has it
		return invalid(kind, m.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), 0,
				"must be specified for an update"),
		})
	}
	if subresource != "" {
		return nil
	}
	return r.checkMeta(next, current)
}

// take makes the object to be stored from the current one and the requested one. Through
// the status subresource it takes the status alone; otherwise everything except the status
// and the fields that the server sets.
func (r *resource) take(current, wanted runtime.Object, subresource string) runtime.Object {
	if subresource == "status" {
		next := synthetic.ShallowCopy(current)
		r.setStatus(next, wanted)
		return next
	}
	was, m := synthetic.Accessor(current), synthetic.Accessor(wanted)
	m.SetUID(was.GetUID())
	m.SetSelfLink("")
	m.SetResourceVersion(was.GetResourceVersion())
	m.SetCreationTimestamp(was.GetCreationTimestamp())
	m.SetDeletionTimestamp(was.GetDeletionTimestamp())
	m.SetDeletionGracePeriodSeconds(was.GetDeletionGracePeriodSeconds())
	wanted.GetObjectKind().SetGroupVersionKind(current.GetObjectKind().GroupVersionKind())
	if r.status {
		r.setStatus(wanted, current)
	}
	m.SetGeneration(was.GetGeneration())
	if r.custom && !apiequality.Semantic.DeepEqual(withoutMetadata(current), withoutMetadata(wanted)) {
		m.SetGeneration(was.GetGeneration() + 1)
	}
	return wanted
}

// delete answers with a Status or with the object. The object is the answer while a
// finalizer holds it, and for resources where a real server always returns the last state.
func (s *Server) delete(w http.ResponseWriter, req *http.Request, t target) error {
	r := t.resource
	o, dry, err := s.deleteOptions(w, req)
	if err != nil {
		return err
	}
	m, err := s.negotiate(req, r, false) // a Status has only its own form
	if err != nil {
		return err
	}
	obj, held, err := s.remove(t, o.Preconditions, dry)
	if err != nil {
		return err
	}
	code := http.StatusOK
	//lint:ignore SA1019 clients may still ask for it
	orphan := o.OrphanDependents //nolint:staticcheck // as above
	if held && orphan != nil && !*orphan {
		code = http.StatusAccepted
	}
	if held || r.returnsDeleted() {
		s.respond(w, m, code, m.object(obj, r.gvk))
		return nil
	}
	status := &metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusOK,
		Details: &metav1.StatusDetails{
			Name: t.name, Group: r.gvr.Group, Kind: r.gvr.Resource, UID: synthetic.Accessor(obj).GetUID(),
		}}
	status.SetGroupVersionKind(statusKind)
	s.respond(w, m, http.StatusOK, status)
	return nil
}

func (s *Server) deleteOptions(w http.ResponseWriter, req *http.Request) (o metav1.DeleteOptions,
	dry bool, err error) {
	if err = s.decodeDeleteOptions(w, req, &o); err == nil {
		err = invalidOptions("DeleteOptions", validation.ValidateDeleteOptions(&o))
	}
	return o, isDry(o.DryRun), err
}

// remove deletes the target. If the target has finalizers, remove sets its deletion
// timestamp instead, and held is true. It returns the resulting state.
func (s *Server) remove(t target, p *metav1.Preconditions, dry bool) (obj runtime.Object, held bool,
	err error) {
	r := t.resource
	for {
		current, exists := r.source.Get(t.key())
		if !exists {
			return nil, false, apierrors.NewNotFound(r.gvr.GroupResource(), t.name)
		}
		was := synthetic.Accessor(current)
		if p != nil {
			if err := precondition(t, was, ptr.Deref(p.UID, ""),
				ptr.Deref(p.ResourceVersion, "")); err != nil {
				return nil, false, err
			}
		}
		held = len(was.GetFinalizers()) > 0
		next := current
		if held && was.GetDeletionTimestamp() == nil {
			next = s.markDeleted(current)
		}
		switch {
		case dry, held && next == current:
			return next, held, nil
		case held:
			obj, err = r.source.UpdateFrom(next, was.GetResourceVersion())
		default:
			obj, err = r.source.DeleteFrom(t.key(), was.GetResourceVersion())
		}
		if !apierrors.IsConflict(err) {
			return obj, held, forResource(err, t)
		}
	}
}

// markDeleted returns a copy of an object with its deletion timestamp set.
func (s *Server) markDeleted(obj runtime.Object) runtime.Object {
	next := synthetic.ShallowCopy(obj)
	now := metav1.NewTime(s.options.Clock.Now()).Rfc3339Copy()
	m := synthetic.Accessor(next)
	m.SetDeletionTimestamp(&now)
	m.SetDeletionGracePeriodSeconds(new(int64)) // it waits for finalizers, not for a grace period
	if generation := m.GetGeneration(); generation > 0 {
		m.SetGeneration(generation + 1)
	}
	return next
}

// deleteCollection deletes the objects of a list with the same query, one by one, and
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
		one := synthetic.Accessor(obj)
		uid := one.GetUID()
		each := target{resource: t.resource, namespace: one.GetNamespace(), name: one.GetName()}
		_, _, err := s.remove(each, &metav1.Preconditions{UID: &uid}, dry)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err // deleted or recreated since: not an object of this list
		}
	}
	answer, err := s.listOf(t.resource, m, list)
	if err != nil {
		return err
	}
	s.respond(w, m, http.StatusOK, answer)
	return nil
}

// deleteOptionsKind is the assumed kind of a body without one.
var deleteOptionsKind = schema.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}
