//go:build next

package byresource

import (
	"context"

	"k8s.io/client-go/tools/cache"
)

// WaitForCacheSyncWithContext is that of informer.SharedInformerFactory with client-go v0.38's
// type of result.
func (f *Factory) WaitForCacheSyncWithContext(ctx context.Context) cache.GVRSyncResult {
	synced, err := f.SharedInformerFactory.WaitForCacheSyncWithContext(ctx)
	return cache.GVRSyncResult{Err: err, Synced: synced}
}
