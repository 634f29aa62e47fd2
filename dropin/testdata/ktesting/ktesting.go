// Package ktesting stands in for k8s.io/ktesting, which no module proxy has. It is as much of it as
// the tests of client-go's tools/cache need.
package ktesting

import (
	"testing"

	"k8s.io/klog/v2"
	klogtesting "k8s.io/klog/v2/ktesting"
)

// Context is what Init returns.
type Context struct{ logger klog.Logger }

// Init returns the context of a test.
func Init(t testing.TB) Context {
	logger, _ := klogtesting.NewTestContext(t)
	return Context{logger}
}

// Logger logs to the test.
func (c Context) Logger() klog.Logger { return c.logger }
