package informer_test

// What handlers are told of a relist, by the options that change it.

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/informer"
)

// listsOf is a source that answers with one list after the other, each watch but the last with 410.
func listsOf(lists ...corev1.PodList) cache.ListerWatcher {
	n := 0
	return &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			n++
			return lists[n-1].DeepCopy(), nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			w := watch.NewRaceFreeFake()
			if n < len(lists) {
				gone := apierrors.NewResourceExpired("compacted").Status()
				w.Error(&gone)
			}
			return w, nil
		},
	}
}

func TestWhatARelistTells(t *testing.T) {
	versioned := func(name, uid, version string) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(uid),
			ResourceVersion: version}}
	}
	listed := func(version string, pods ...corev1.Pod) corev1.PodList {
		return corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version}, Items: pods}
	}
	for _, c := range []struct {
		recreations, onlyChanges bool
		want                     []string
	}{
		{false, false, []string{"update changed 1-1", "update recreated 1-2", "update same 1-1"}},
		{true, false, []string{"add recreated 2 false", "delete recreated 1", "update changed 1-1",
			"update same 1-1"}},
		{false, true, []string{"update changed 1-1", "update recreated 1-2"}},
		{true, true, []string{"add recreated 2 false", "delete recreated 1", "update changed 1-1"}},
	} {
		t.Run(fmt.Sprint(c.recreations, c.onlyChanges), func(t *testing.T) {
			eachOfOurs(t, func(t *testing.T, o informer.Options) {
				o.UseWatchList, o.ResyncPeriod = ptr.To(false), time.Hour
				o.Recreations, o.OnlyChanges = c.recreations, c.onlyChanges
				inf := informer.New(listsOf(
					listed("3", versioned("recreated", "1", "1"), versioned("same", "1", "2"),
						versioned("changed", "1", "3")),
					listed("6", versioned("recreated", "2", "5"), versioned("same", "1", "2"),
						versioned("changed", "1", "6"))), &corev1.Pod{}, o)
				var mu sync.Mutex // a bubble orders by time what the race detector cannot see
				var told []string
				tell := func(what ...any) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, fmt.Sprint(what...))
				}
				of := func(obj any) (name string, uid types.UID) {
					p := obj.(*corev1.Pod)
					return p.Name, p.UID
				}
				must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(
					cache.ResourceEventHandlerDetailedFuncs{
						AddFunc: func(obj any, isInInitialList bool) {
							name, uid := of(obj)
							tell("add ", name, " ", uid, " ", isInInitialList)
						},
						UpdateFunc: func(before, obj any) {
							_, was := of(before)
							name, uid := of(obj)
							tell("update ", name, " ", was, "-", uid)
						},
						DeleteFunc: func(obj any) {
							tombstone := obj.(cache.DeletedFinalStateUnknown)
							_, uid := of(tombstone.Obj)
							tell("delete ", tombstone.Key[len("ns/"):], " ", uid)
						},
					}))
				start(t, inf)
				time.Sleep(time.Minute)
				synctest.Wait()
				mu.Lock()
				slices.Sort(told[3:])
				if got := told[3:]; !slices.Equal(got, c.want) {
					t.Errorf("the relist told %q, want %q", got, c.want)
				}
				told = nil
				mu.Unlock()
				time.Sleep(time.Hour)
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				if len(told) != 3 {
					t.Errorf("a resync told %q", told)
				}
			})
		})
	}
}
