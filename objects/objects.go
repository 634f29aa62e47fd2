package objects

import (
	"reflect"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// Plain keeps objects as they are.
type Plain struct{}

var _ contract.InPlaceKeeper = Plain{}

// Keep returns obj.
func (Plain) Keep(obj any) any { return obj }

// Object returns kept.
func (Plain) Object(kept any) any { return kept }

// Transform returns obj and nil.
func (Plain) Transform(obj any) (any, error) { return obj, nil }

// NeedsView reports whether what keeper keeps must go through Object to be read.
func NeedsView(keeper contract.ObjectKeeper) bool {
	_, inPlace := keeper.(contract.InPlaceKeeper)
	return keeper != nil && !inPlace
}

// Transform returns a TransformFunc that applies first, which may be nil, and then Keep. A nil
// keeper gives first.
func Transform(first contract.TransformFunc, keeper contract.ObjectKeeper) contract.TransformFunc {
	if keeper == nil {
		return first
	}
	return func(obj any) (any, error) {
		if first != nil {
			var err error
			if obj, err = first(obj); err != nil {
				return nil, err
			}
		}
		return keeper.Keep(obj), nil
	}
}

// Open returns the object of what keeper keeps, also within a tombstone. A nil keeper has kept
// objects as they are.
func Open(keeper contract.ObjectKeeper, kept any) any {
	if keeper == nil {
		return kept
	}
	if tombstone, is := kept.(contract.DeletedFinalStateUnknown); is {
		tombstone.Obj = keeper.Object(tombstone.Obj)
		return tombstone
	}
	return keeper.Object(kept)
}

// KeyFunc returns f for what keeper keeps. The functions of client-go read the metadata, which what
// is kept has, and stay as they are.
func KeyFunc(keeper contract.ObjectKeeper, f contract.KeyFunc) contract.KeyFunc {
	for _, known := range []contract.KeyFunc{cache.MetaNamespaceKeyFunc,
		cache.DeletionHandlingMetaNamespaceKeyFunc} {
		if reflect.ValueOf(f).Pointer() == reflect.ValueOf(known).Pointer() {
			return f
		}
	}
	return func(kept any) (string, error) { return f(Open(keeper, kept)) }
}

// Handler returns a handler that gives h the objects of what keeper keeps. An object is made when
// h is called, so what waits for h is small.
func Handler(keeper contract.ObjectKeeper,
	h cache.ResourceEventHandler) cache.ResourceEventHandler {
	return handler{keeper, h}
}

type handler struct {
	keeper contract.ObjectKeeper
	to     cache.ResourceEventHandler
}

func (h handler) OnAdd(kept any, isInInitialList bool) {
	h.to.OnAdd(Open(h.keeper, kept), isInInitialList)
}

func (h handler) OnUpdate(old, kept any) {
	h.to.OnUpdate(Open(h.keeper, old), Open(h.keeper, kept))
}

func (h handler) OnDelete(kept any) { h.to.OnDelete(Open(h.keeper, kept)) }
