// Package dropin tests the drop-ins that lie below it, against what they stand in for: that no
// exported name and no option is missing, and by the tests of client-go and controller-runtime
// themselves, which run on ours.
//
//	k8s.io/client-go/tools/cache v0.37.2: 138 run, 48 are left out
//	k8s.io/client-go/util/workqueue v0.37.2: 21 run, 3 are left out
//	sigs.k8s.io/controller-runtime/pkg/cache v0.25.2: 3 run, 0 are left out
//	sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue v0.25.2: 13 run, 3 are left out
//
// A test is left out if it reads unexported fields, calls unexported functions, or tests a type
// that is client-go's own here too. It is then skipped with that reason.
package dropin
