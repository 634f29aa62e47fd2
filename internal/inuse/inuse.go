// Package inuse says in the log that a program runs on this project's types.
package inuse

import (
	"sync"

	"k8s.io/klog/v2"
)

var logged sync.Map // of kinds

// Log logs once in a process that the first of a kind has been started.
func Log(logger klog.Logger, kind string) {
	if _, again := logged.LoadOrStore(kind, nil); !again {
		logger.WithCallDepth(1).Info("informerbench is in use", "kind", kind)
	}
}
