package informertest

import (
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/informerbench/informerbench/conformance/suite"
)

// inBubble is suite.Bubble inside calm.
func inBubble(f func()) (failed, left string) {
	// A bubble that its suite gives up goes on running, and a panic in it must not end the
	// process.
	defer calm()()
	return suite.Bubble(f)
}

var calmed struct {
	sync.Mutex
	users    int
	crash    bool
	handlers []utilruntime.ErrorHandler
}

// calm turns off Kubernetes' reactions to panics and errors while at least one suite or
// bubble runs. end restores them when the last user is done.
func calm() (end func()) {
	c := &calmed
	c.Lock()
	defer c.Unlock()
	if c.users++; c.users == 1 {
		c.crash, c.handlers = utilruntime.ReallyCrash, utilruntime.ErrorHandlers
		utilruntime.ReallyCrash, utilruntime.ErrorHandlers = false, nil
	}
	return func() {
		c.Lock()
		defer c.Unlock()
		if c.users--; c.users == 0 {
			utilruntime.ReallyCrash, utilruntime.ErrorHandlers = c.crash, c.handlers
		}
	}
}
