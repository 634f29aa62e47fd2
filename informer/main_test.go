package informer

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

func TestMain(m *testing.M) {
	// The default handlers slow down by a time that they keep in a global, which makes
	// no sense across synctest bubbles. Errors go to the context's logger alone,
	// where a test can read them.
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
		func(ctx context.Context, err error, msg string, keysAndValues ...any) {
			klog.FromContext(ctx).Error(err, msg, keysAndValues...)
		},
	}
	ctrllog.SetLogger(logr.Discard()) // once and here, for two calls at once are a data race
	goleak.VerifyTestMain(m)
}
