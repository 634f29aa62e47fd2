// Package ctrlqueue puts a workqueue.PriorityQueue into a controller of controller-runtime,
// with the metrics that the controller had before:
//
//	controller.Options{NewQueue: ctrlqueue.New[reconcile.Request]}
//
// A controller with any other queue loses its seven workqueue_* metrics, and nothing logs
// it: controller-runtime's metrics provider is in an internal package, and only
// controller-runtime's own queue uses it. [MetricsProvider] writes to the metric families
// that controller-runtime itself has registered in metrics.Registry. So names, buckets and
// labels (name, controller; priority on the depth) are those of the version in use.
//
// Everything here may be used by any number of goroutines at once.
package ctrlqueue
