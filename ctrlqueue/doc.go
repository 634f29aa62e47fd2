// Package ctrlqueue puts our queue into a controller of controller-runtime, with the
// metrics that the controller had before:
//
//	controller.Options{NewQueue: ctrlqueue.New[reconcile.Request]}
//
// A controller that is given any other queue loses its seven workqueue_* metrics without
// a word: controller-runtime's provider is in an internal package, and only
// controller-runtime's own queue uses it. [MetricsProvider] stands on the very metric
// families that controller-runtime registered in metrics.Registry, so names, labels (name,
// controller, and priority of the depth) and buckets are its own, whatever its version.
//
// Everything here may be used by any number of goroutines at once.
package ctrlqueue
