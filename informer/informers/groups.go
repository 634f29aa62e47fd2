package informers

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers/admissionregistration"
	"k8s.io/client-go/informers/apiserverinternal"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/autoscaling"
	"k8s.io/client-go/informers/batch"
	"k8s.io/client-go/informers/certificates"
	"k8s.io/client-go/informers/coordination"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/discovery"
	"k8s.io/client-go/informers/events"
	"k8s.io/client-go/informers/extensions"
	"k8s.io/client-go/informers/flowcontrol"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/lifecycle"
	"k8s.io/client-go/informers/networking"
	"k8s.io/client-go/informers/node"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/rbac"
	resourcegroup "k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/informers/storagemigration"
	"k8s.io/client-go/tools/cache"
)

// generated is the factory as client-go's generated code sees it. That code asks for
// client-go's informer of a type, and gets one of this package.
type generated struct{ *factory }

func (g generated) InformerFor(obj runtime.Object,
	newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	t := reflect.TypeOf(obj)
	return g.shared.InformerFor(t, func() cache.SharedIndexInformer {
		return g.newInformer(newFunc(g.client, g.resyncOf(t)), g.resyncOf(t))
	})
}

// group makes client-go's generated access to a group of types, over this package's factory.
func group[I any](f *factory, newGroup func(internalinterfaces.SharedInformerFactory, string,
	internalinterfaces.TweakListOptionsFunc) I) I {
	return newGroup(generated{f}, f.namespace, f.tweak)
}

// The groups of client-go's SharedInformerFactory.

func (f *factory) Admissionregistration() admissionregistration.Interface {
	return group(f, admissionregistration.New)
}
func (f *factory) Internal() apiserverinternal.Interface { return group(f, apiserverinternal.New) }
func (f *factory) Apps() apps.Interface                  { return group(f, apps.New) }
func (f *factory) Autoscaling() autoscaling.Interface    { return group(f, autoscaling.New) }
func (f *factory) Batch() batch.Interface                { return group(f, batch.New) }
func (f *factory) Certificates() certificates.Interface  { return group(f, certificates.New) }
func (f *factory) Coordination() coordination.Interface  { return group(f, coordination.New) }
func (f *factory) Core() core.Interface                  { return group(f, core.New) }
func (f *factory) Discovery() discovery.Interface        { return group(f, discovery.New) }
func (f *factory) Events() events.Interface              { return group(f, events.New) }
func (f *factory) Extensions() extensions.Interface      { return group(f, extensions.New) }
func (f *factory) Flowcontrol() flowcontrol.Interface    { return group(f, flowcontrol.New) }
func (f *factory) Lifecycle() lifecycle.Interface        { return group(f, lifecycle.New) }
func (f *factory) Networking() networking.Interface      { return group(f, networking.New) }
func (f *factory) Node() node.Interface                  { return group(f, node.New) }
func (f *factory) Policy() policy.Interface              { return group(f, policy.New) }
func (f *factory) Rbac() rbac.Interface                  { return group(f, rbac.New) }
func (f *factory) Resource() resourcegroup.Interface     { return group(f, resourcegroup.New) }
func (f *factory) Scheduling() scheduling.Interface      { return group(f, scheduling.New) }
func (f *factory) Storage() storage.Interface            { return group(f, storage.New) }
func (f *factory) Storagemigration() storagemigration.Interface {
	return group(f, storagemigration.New)
}
