// Package workqueue is client-go's util/workqueue over this project's queues: a program
// changes the import
//
//	import "k8s.io/client-go/util/workqueue"
//	import "github.com/informerbench/informerbench/dropin/workqueue"
//
// and nothing else. Every exported name of client-go v0.37.2's package is here, and is used in the
// same way; a test compares the two. Interfaces, configurations, metrics and the parallelizer are
// aliases of client-go's, so values pass between the two packages. Type, Typed and the rate
// limiters
// but the bucket are structs of our own.
//
// # What differs
//
// The queues are those of package queue/workqueue, whose comment has their guarantees and
// costs; delayed items wait in a delay.QuadHeap. Compared with client-go's:
//
//   - AddAfter never waits for another goroutine. Client-go's waits when 1,000 delayed items
//     are under way to its goroutine.
//   - Done of an item that is ready does not queue it twice, several ShutDownWithDrain may wait
//     at once, and ShutDownWithDrain of a delaying queue ends its goroutine.
//   - No rate limiter returns a negative delay.
//
// # Metrics
//
// A queue with a name has the seven metrics of the provider in its configuration, or else of
// the one given to SetProvider here. A provider that something else has given to client-go's
// own SetProvider cannot be read: k8s.io/component-base/metrics/prometheus/workqueue and
// controller-runtime do so when they are imported. Without a provider here, the first queue with a
// name logs a warning. For component-base's metrics a program imports
// dropin/workqueue/prometheus; for controller-runtime's it passes that of
// ctrlqueue.MetricsProvider to SetProvider.
//
// Everything here may be used by any number of goroutines at once.
package workqueue
