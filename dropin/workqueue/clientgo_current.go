//go:build !next

package workqueue

import "k8s.io/klog/v2"

// loggerOf is nil: client-go has the option from v0.38 on (build tag next).
func loggerOf[T comparable](TypedRateLimitingQueueConfig[T]) *klog.Logger { return nil }
