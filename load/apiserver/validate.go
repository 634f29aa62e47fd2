package apiserver

import (
	"fmt"
	"strings"
	"sync"

	"github.com/informerbench/informerbench/load/synthetic"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
)

// The validation of a write: its options, its names and its metadata, by the code of an API
// server and so with the same errors. Spec and status are not validated.

// builtIn has the types of Kubernetes only, whatever a program has added to client-go's
// scheme.
var builtIn = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(scheme.AddToScheme(s))
	return s
})

// invalid is a 422 if there are problems with the object or the options of a kind.
func invalid(kind schema.GroupKind, name string, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	return apierrors.NewInvalid(kind, name, problems)
}

// invalidOptions is the same for the options of a request.
func invalidOptions(kind string, problems field.ErrorList) error {
	return invalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", problems)
}

// checkPath refuses names that cannot be a segment of a path. The namespace of a create is
// left to checkMeta, whose rules are stricter and whose answer is 422.
func (t target) checkPath(creates bool) error {
	for _, name := range []struct{ what, value string }{{"Namespace", t.namespace}, {"Name", t.name}} {
		if problems := content.IsPathSegmentName(name.value); len(problems) > 0 && !creates {
			return apierrors.NewBadRequest(
				fmt.Sprintf("%s parameter invalid: %q: %s", name.what, name.value, strings.Join(problems, ";")))
		}
	}
	return nil
}

// checkNamespace checks an object's namespace against that of its path. An object without
// one gets it. An object of a resource without namespaces loses its own.
func (t target) checkNamespace(m metav1.Object) error {
	switch m.GetNamespace() {
	case t.namespace:
	case "":
		m.SetNamespace(t.namespace)
	default:
		if t.resource.namespaced {
			return apierrors.NewBadRequest(
				"the namespace of the provided object does not match the namespace sent on the request")
		}
		m.SetNamespace("")
	}
	return nil
}

// checkIdentity checks the namespace and name of an object that replaces another against
// the path.
func (t target) checkIdentity(m metav1.Object) error {
	if err := t.checkNamespace(m); err != nil {
		return err
	}
	if m.GetName() != t.name {
		return apierrors.NewBadRequest(
			fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", m.GetName(),
				t.name))
	}
	return nil
}

// checkMeta validates the kind and the metadata of an object to be stored. was is the
// object that it replaces, nil for a create.
func (r *resource) checkMeta(obj, was runtime.Object) error {
	m := synthetic.Accessor(obj)
	if r.custom && r.unstructured { // decode has checked the kind of others
		if err := r.checkKind(obj.GetObjectKind().GroupVersionKind(), m.GetName()); err != nil {
			return err
		}
	}
	at, names := field.NewPath("metadata"), segmentName
	if was == nil {
		names = r.nameRule()
	}
	problems := metavalidation.ValidateObjectMetaAccessor(m, r.namespaced, names, at)
	if was != nil && synthetic.Accessor(was).GetDeletionTimestamp() != nil {
		problems = append(
			problems, metavalidation.ValidateNoNewFinalizers(m.GetFinalizers(),
				synthetic.Accessor(was).GetFinalizers(), at.Child("finalizers"))...)
	}
	return invalid(r.gvk.GroupKind(), m.GetName(), problems)
}

// checkKind validates the kind of a custom resource.
func (r *resource) checkKind(kind schema.GroupVersionKind, name string) error {
	var problems field.ErrorList
	if kind.Kind != r.gvk.Kind {
		problems = append(
			problems, field.Invalid(field.NewPath("kind"), kind.Kind, "must be "+r.gvk.Kind))
	}
	if gv := kind.GroupVersion(); gv != r.gvk.GroupVersion() {
		problems = append(
			problems, field.Invalid(field.NewPath("apiVersion"), gv.String(),
				"must be "+r.gvk.GroupVersion().String()))
	}
	return invalid(kind.GroupKind(), name, problems)
}

// segmentName is the rule for names that were accepted by another, perhaps older rule.
func segmentName(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// nameRule is the rule for names of new objects. Kinds that are not among the exceptions
// have DNS subdomains: pods, nodes and all custom resources do.
func (r *resource) nameRule() metavalidation.ValidateNameFunc {
	switch kind := r.gvk.GroupKind(); {
	case kind == corev1.SchemeGroupVersion.WithKind("Namespace").GroupKind():
		return metavalidation.ValidateNamespaceName
	case kind.Group == rbacv1.GroupName: // system:node
		return segmentName
	}
	return metavalidation.NameIsDNSSubdomain
}
