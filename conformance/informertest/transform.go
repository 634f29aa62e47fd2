package informertest

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

const mark = "transformed"

// transform marks a copy of an object, with one more x each time.
func transform(obj any) (any, error) {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil // a tombstone holds a transformed object
	}
	c := *p
	c.Annotations = maps.Clone(p.Annotations)
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[mark] += "x"
	return &c, nil
}

// unmarked returns the object as it was before transform.
func unmarked(p *corev1.Pod) *corev1.Pod {
	if p.Annotations[mark] == "" {
		return p
	}
	c := *p
	c.Annotations = maps.Clone(p.Annotations)
	delete(c.Annotations, mark)
	return &c
}

// same reports whether a and b are one state of one object. A list returns unchanged
// objects as new pointers, and handlers need not be told of these.
func same(a, b *corev1.Pod) bool {
	return a == b || a != nil && b != nil && version(a) == version(b) &&
		equality.Semantic.DeepEqual(unmarked(a), unmarked(b))
}

// wantMarked checks, in a world with a transform, how often an object was transformed.
func (w *world) wantMarked(where string, p *corev1.Pod) {
	if !w.transform || p == nil {
		return
	}
	switch n := len(p.Annotations[mark]); {
	case n == 0:
		w.problem("INFORMER-16", "%s was not transformed %s", describe(p), where)
	case n > 1:
		w.problem("INFORMER-31", "%s was transformed %d times %s", describe(p), n, where)
	}
}
