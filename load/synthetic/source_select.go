package synthetic

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/watch"
)

// selectableField is a field that a field selector may name.
type selectableField struct {
	name string
	of   func(runtime.Object) string
}

var metadataFields = []selectableField{
	{"metadata.name", func(obj runtime.Object) string { return Accessor(obj).GetName() }},
	{"metadata.namespace", func(obj runtime.Object) string { return Accessor(obj).GetNamespace() }},
}

var podFields = []selectableField{
	podField(func(p *corev1.Pod) string { return p.Spec.NodeName }, "spec", "nodeName"),
	podField(func(p *corev1.Pod) string { return string(p.Status.Phase) }, "status", "phase"),
}

// podField reads a field of a pod, typed or, in a recording, unstructured.
func podField(typed func(*corev1.Pod) string, path ...string) selectableField {
	return selectableField{strings.Join(path, "."), func(obj runtime.Object) string {
		if u, ok := obj.(*unstructured.Unstructured); ok {
			value, _, _ := unstructured.NestedString(u.Object, path...) // "" where there is no string
			return value
		}
		return typed(obj.(*corev1.Pod))
	}}
}

// isNamespace reports whether a field selector selects a namespace and nothing else. The
// namespace of a request's path reaches a Source as a selector; for an apiserver it is
// none.
func isNamespace(fieldSelector string) bool {
	parsed, err := fields.ParseSelector(fieldSelector)
	if err != nil {
		return false
	}
	terms := parsed.Requirements()
	return len(terms) == 1 && terms[0].Field == "metadata.namespace" &&
		terms[0].Operator != selection.NotEquals
}

// selectableFields are those of the source's kind.
func (s *Source) selectableFields() []selectableField {
	_, pods := s.options.Example.(*corev1.Pod)
	u, isUnstructured := s.options.Example.(*unstructured.Unstructured)
	if isUnstructured {
		pods = u.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Pod")
	}
	switch {
	case pods:
		return slices.Concat(metadataFields, podFields)
	case isUnstructured:
		known := slices.Clone(metadataFields)
		for _, path := range s.options.SelectableFields {
			known = append(known, customField(path))
		}
		return known
	}
	return metadataFields
}

// customField is a field of unstructured objects. Its value is compared as text.
func customField(path string) selectableField {
	path = strings.TrimPrefix(path, ".") // as a CustomResourceDefinition writes it
	steps := strings.Split(path, ".")
	return selectableField{path, func(obj runtime.Object) string {
		value, found, err := unstructured.NestedFieldNoCopy(obj.(*unstructured.Unstructured).Object,
			steps...)
		if !found || err != nil || value == nil {
			return ""
		}
		return fmt.Sprint(value)
	}}
}

// selection returns a function that matches the selectors of a request. It is nil if they
// select every object. Matching costs O(terms).
func (s *Source) selection(o metav1.ListOptions) (func(runtime.Object) bool, error) {
	if o.LabelSelector == "" && o.FieldSelector == "" {
		return nil, nil
	}
	label, err := labels.Parse(o.LabelSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(
			fmt.Sprintf("unable to parse label selector %q: %v", o.LabelSelector, err))
	}
	field, err := fields.ParseSelector(o.FieldSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(
			fmt.Sprintf("unable to parse field selector %q: %v", o.FieldSelector, err))
	}
	type term struct {
		of    func(runtime.Object) string
		value string
		equal bool
	}
	var terms []term
	known := s.selectableFields()
	for _, r := range field.Requirements() {
		i := slices.IndexFunc(known, func(f selectableField) bool { return f.name == r.Field })
		if i < 0 {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %q: use one of %s",
				r.Field, joined(known, func(f selectableField) string { return f.name })))
		}
		terms = append(terms, term{known[i].of, r.Value, r.Operator != selection.NotEquals})
	}
	return func(obj runtime.Object) bool {
		for _, t := range terms {
			if (t.of(obj) == t.value) != t.equal {
				return false
			}
		}
		return label.Empty() || label.Matches(labels.Set(Accessor(obj).GetLabels()))
	}, nil
}

// seenBy returns the event that a change is for a watch with a selection. An object that
// enters the selection is added. An object that leaves it is deleted, with its last
// selected state and the version of the change. seen is false for a change outside the
// selection.
func (c change) seenBy(selected func(runtime.Object) bool) (e watch.Event, seen bool) {
	if selected == nil {
		return c.event, true
	}
	was := c.before != nil && selected(c.before)
	is := c.after != nil && selected(c.after)
	switch {
	case was && is:
		return c.event, true
	case is:
		return watch.Event{Type: watch.Added, Object: c.event.Object}, true
	case was && c.after == nil: // the event of every watch, so that it is encoded once
		return c.event, true
	case was:
		return watch.Event{Type: watch.Deleted, Object: withVersion(c.before, VersionOf(c.event.Object))},
			true
	default:
		return watch.Event{}, false
	}
}
