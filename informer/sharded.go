package informer

// Informers of one shard of a resource: KEP-5866.

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/sharding"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// SetShardSelector limits the informer to the objects of a shard, in place of
// Options.ShardSelector; nil means all objects. The error is ErrStarted.
func (s *SharedIndexInformer) SetShardSelector(selector sharding.Selector) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.started {
		return fmt.Errorf("setting the shard selector: %w", ErrStarted)
	}
	s.mu.shardSelector = selector
	return nil
}

// NewShardedListWatch returns a ListerWatcher of the objects of lw that are in a shard; nil is all
// of them. Each list and watch asks the server for the shard. Where a list does not say that the
// server has heeded it, and in each watch, the objects of other shards are dropped here: that
// costs a hash for each object, and what the server sends in vain.
func NewShardedListWatch(lw cache.ListerWatcher,
	selector sharding.Selector) cache.ListerWatcher {
	if selector == nil || selector.Empty() {
		return lw
	}
	s := &shard{lw: cache.ToListerWatcherWithContext(lw), selector: selector}
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc:  s.list,
		WatchFuncWithContext: s.watch,
	}, lw)
}

type shard struct {
	lw       cache.ListerWatcherWithContext
	selector sharding.Selector
	filters  sync.Once // says in the log that the server sends other shards too
}

// ask puts the shard into the options of a list or a watch.
func (s *shard) ask(o *metav1.ListOptions) error {
	want := s.selector.String()
	if o.ShardSelector != "" && o.ShardSelector != want {
		return fmt.Errorf("the shard selector %q of the list options contradicts the informer's, %q: "+
			"set one of them", o.ShardSelector, want)
	}
	o.ShardSelector = want
	return nil
}

func (s *shard) noteFilter(ctx context.Context) {
	s.filters.Do(func() {
		klog.FromContext(ctx).V(2).Info("The server does not select the shard, so the client does",
			"selector", s.selector.String())
	})
}

func (s *shard) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if err := s.ask(&options); err != nil {
		return nil, err
	}
	list, err := s.lw.ListWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	about, err := meta.ListAccessor(list)
	if err != nil {
		return nil, err
	}
	// Before v0.38 an UnstructuredList cannot say it.
	if told, ok := about.(metav1.ShardedListInterface); ok && told.GetShardInfo() != nil {
		if shard := told.GetShardInfo().Selector; shard != options.ShardSelector {
			return nil, fmt.Errorf("the server listed the shard %q, and was asked for %q", shard,
				options.ShardSelector)
		}
		return list, nil
	}
	s.noteFilter(ctx)
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil, err
	}
	mine := make([]runtime.Object, 0, len(items))
	for _, item := range items {
		matches, err := s.selector.Matches(item)
		if err != nil {
			return nil, err
		}
		if matches {
			mine = append(mine, item)
		}
	}
	about.SetRemainingItemCount(nil) // it counts the objects of all shards
	return list, meta.SetList(list, mine)
}

func (s *shard) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if err := s.ask(&options); err != nil {
		return nil, err
	}
	w, err := s.lw.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	return watch.Filter(w, func(event watch.Event) (watch.Event, bool) {
		if event.Type == watch.Bookmark || event.Type == watch.Error {
			return event, true
		}
		matches, err := s.selector.Matches(event.Object)
		if err != nil {
			utilruntime.HandleErrorWithContext(ctx, err, "Dropping an event that may be of another shard")
		} else if !matches {
			s.noteFilter(ctx)
		}
		return event, matches
	}), nil
}
