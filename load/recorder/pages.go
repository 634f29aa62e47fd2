package recorder

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informerbench/informerbench/load"
)

// List passes the objects of a resource to each, one at a time, and what is left after each page
// to paged, in pages of DefaultPageSize. namespace and selector may be "". Nothing is kept.
func (c *Cluster) List(ctx context.Context, r load.TraceResource, namespace, selector string,
	each func(*unstructured.Unstructured) error, paged func(left int64)) error {
	o := Options{Namespace: namespace}
	from, seen := c.client(r, o), map[string]bool{}
	list := metav1.ListOptions{Limit: DefaultPageSize, LabelSelector: selector}
	for {
		var left int64
		p, err := patiently(ctx, func() (page, error) { return from.list(ctx, list) })
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case expired(err):
			return fmt.Errorf("list %s: the server forgot the list before its end: list less at a time, "+
				"by --namespace or --selector: %w", r, c.hide(err))
		case err != nil:
			return c.hide(c.refused("list", r, o, err))
		}
		for _, obj := range p.items {
			u, ok := obj.(*unstructured.Unstructured)
			if !ok {
				return fmt.Errorf("list %s: the server sent a %T, want an object", r, obj)
			}
			if err := each(u); err != nil {
				return fmt.Errorf("list %s: %w", r, err)
			}
		}
		if p.left != nil {
			left = *p.left
		}
		paged(left)
		if p.rest == "" {
			return nil
		}
		if seen[p.rest] {
			return errSameToken
		}
		seen[p.rest] = true
		list.Continue = p.rest
	}
}
