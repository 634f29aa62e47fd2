// Package informers is client-go's package of that name over package informer. A program
// that uses k8s.io/client-go/informers changes the import path. Its factories, generated
// informers, typed handlers and listers work as before, by default over impl/lockfree.
//
//	factory := informers.NewSharedInformerFactory(client, 0)
//	pods := factory.Core().V1().Pods()
//
// A program that is handed a factory of client-go's can put an informer of this package
// into it for a type, before anything else asks for that type:
//
//	newPods, err := informers.NewInformerFunc(&corev1.Pod{})
//	factory.InformerFor(&corev1.Pod{}, newPods)
//
// client-go's generated code makes each informer, which is never started: this package takes its
// lists and watches out, and its own informer uses them. So a program links only the groups that
// it asks for, as with client-go's factory. ForResource and NewInformerFunc link all groups.
//
// The package needs client-go's clientset and informers and hence all of k8s.io/api. So it
// is apart from package informer, which controller-runtime programs use without them.
//
// Everything here may be used by any number of goroutines at once.
package informers
