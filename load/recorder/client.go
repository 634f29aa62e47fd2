package recorder

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/informerbench/informerbench/load"
)

// page is a part of a list.
type page struct {
	items   []runtime.Object
	version string
	rest    string
	left    *int64 // objects behind the page, if the server says so
}

// client lists and watches one resource. It has no other methods of the API.
type client interface {
	list(ctx context.Context, o metav1.ListOptions) (page, error)
	watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
	// object makes an unstructured object, which belongs to the caller, from an object of
	// list or watch.
	object(obj runtime.Object) (*unstructured.Unstructured, error)
}

func (c *Cluster) client(r load.TraceResource, o Options) client {
	namespace := o.Namespace
	if !r.Namespaced {
		namespace = ""
	}
	if o.MetadataOnly {
		return metadataClient{c.Metadata.Resource(r.GVR()).Namespace(namespace), r}
	}
	return objectClient{c.Dynamic.Resource(r.GVR()).Namespace(namespace)}
}

// pageOf splits a list into its objects, in items, and its metadata.
func pageOf[T any, O interface {
	*T
	runtime.Object
}](list metav1.ListInterface, items []T) page {
	p := page{version: list.GetResourceVersion(), rest: list.GetContinue(),
		left: list.GetRemainingItemCount()}
	for i := range items {
		p.items = append(p.items, O(&items[i]))
	}
	return p
}

type objectClient struct{ dynamic.ResourceInterface }

func (c objectClient) list(ctx context.Context, o metav1.ListOptions) (page, error) {
	list, err := c.List(ctx, o)
	if err != nil {
		return page{}, err
	}
	return pageOf(list, list.Items), nil
}

func (c objectClient) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return c.Watch(ctx, o)
}

func (c objectClient) object(obj runtime.Object) (*unstructured.Unstructured, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("the server sent a %T, want an object", obj)
	}
	return u, nil
}

type metadataClient struct {
	metadata.ResourceInterface
	resource load.TraceResource
}

func (c metadataClient) list(ctx context.Context, o metav1.ListOptions) (page, error) {
	list, err := c.List(ctx, o)
	if err != nil {
		return page{}, err
	}
	return pageOf(list, list.Items), nil
}

func (c metadataClient) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return c.Watch(ctx, o)
}

// object gives the metadata the kind of its object.
func (c metadataClient) object(obj runtime.Object) (*unstructured.Unstructured, error) {
	partial, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok {
		return nil, fmt.Errorf("the server sent a %T, want metadata", obj)
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(partial)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: object}
	u.SetGroupVersionKind(c.resource.GVK())
	return u, nil
}
