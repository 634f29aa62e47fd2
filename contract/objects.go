package contract

// ObjectKeeper decides how a cache keeps objects between a write and a read: as they are, with the
// parts that equal ones share, or as bytes. It stands beside the store, which keeps what Keep
// returns, and readers see what Object returns for it.
//
// Any number of goroutines may call both methods at once. Objects are shared and read-only, as
// everywhere. Clauses OBJECT-*.
type ObjectKeeper interface {
	// Keep takes obj over, as a TransformFunc does, and returns what a store keeps in its place. No
	// one else may use obj during the call, because Keep may replace parts of it by equal ones. What
	// it returns is obj, or a value whose metadata (by meta.Accessor) has obj's namespace, name, UID
	// and resource version. What Keep returned before, or cannot keep otherwise, it returns as it is:
	// tombstones, nil, and what is no Kubernetes object.
	Keep(obj any) (kept any)
	// Object returns the object that kept stands for: of the same type as the one that was kept, and
	// equal to it by equality.Semantic. While the object that an earlier call returned, or the one
	// that was kept, is referenced somewhere, it is that one. A value that did not come from Keep is
	// returned as it is.
	Object(kept any) any
}

// InPlaceKeeper is an ObjectKeeper that keeps objects themselves: Object returns its argument, so a
// cache reads its store as ever. It fits every cache that takes a TransformFunc, client-go's and
// controller-runtime's too.
type InPlaceKeeper interface {
	ObjectKeeper
	// Transform is Keep as a TransformFunc. The error is nil.
	Transform(obj any) (any, error)
}

// ValueKeeper is an ObjectKeeper that remembers what was computed of an object, so that an index
// can be changed without making the object again.
type ValueKeeper interface {
	ObjectKeeper
	// Values returns what compute returned for the object of kept and this slot when it was first
	// asked; errors are not remembered. A slot is a small number from 0 that stands for an index.
	// The slice is shared and read-only, and does not keep the object alive.
	Values(kept any, slot int, compute func(obj any) ([]string, error)) ([]string, error)
}
