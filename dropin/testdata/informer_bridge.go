package informer

// Compiled with client-go's tests only: it lends cache_bridge_test.go what they read and call of a
// Reflector.

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func (r *Reflector) SetVersion(version string)             { r.setVersion(version) }
func (r *Reflector) List(ctx context.Context) error        { return r.list(ctx) }
func (r *Reflector) UsesWatchList() bool                   { return r.useWatchList }
func (r *Reflector) ExpectedGVK() *schema.GroupVersionKind { return r.expectedGVK }
func IsTable(obj runtime.Object) bool                      { return isTable(obj) }
