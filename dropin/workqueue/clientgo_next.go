//go:build next

package workqueue

import "k8s.io/klog/v2"

func loggerOf[T comparable](config TypedRateLimitingQueueConfig[T]) *klog.Logger {
	return config.Logger
}
