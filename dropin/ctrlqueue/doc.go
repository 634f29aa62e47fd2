// Package ctrlqueue puts a workqueue.PriorityQueue into a controller of controller-runtime,
// with the metrics that the controller had before:
//
//	controller.Options{NewQueue: ctrlqueue.New[reconcile.Request]}
//
// A controller with another queue of this project, such as one of dropin/workqueue, loses
// its seven workqueue_* metrics, and nothing logs it: controller-runtime gives its metrics
// provider to client-go's package alone. [MetricsProvider] is for such a queue, or for
// SetProvider of dropin/workqueue. It writes to the metric families
// that controller-runtime itself has registered in metrics.Registry. So names and buckets are
// those of the version in use. A version with other labels than name and controller, and priority
// on the depth, is an error.
//
// Everything here may be used by any number of goroutines at once.
package ctrlqueue
