// Package informers is client-go's package of that name on our informer: a
// program that uses k8s.io/client-go/informers changes the import path, and its
// factories, generated informers, typed handlers and listers work as before, over
// our store.
//
//	factory := informers.NewSharedInformerFactory(client, 0)
//	pods := factory.Core().V1().Pods()
//
// A program that is handed a factory of client-go's can have it hold our informer
// for a type, before anything else asks for that type:
//
//	newPods, err := informers.NewInformerFunc(&corev1.Pod{})
//	factory.InformerFor(&corev1.Pod{}, newPods)
//
// The types are found in kubernetes.Interface itself by reflection, once: every
// resource of the clientset that can be listed and watched. After that a list
// costs two reflected calls more than client-go's generated code, a watch the same.
//
// The package needs client-go's clientset and informers and hence everything of
// k8s.io/api; that is why it is a package of its own and package informer, which
// controller-runtime programs use, is not burdened with it.
//
// Everything here may be used by any number of goroutines at once.
package informers
