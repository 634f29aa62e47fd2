package deltafifo

// Keys as two strings, for Coalescing and InOrder.

import (
	"hash/maphash"
	"math/bits"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// objectKey is a key in two parts, so that the usual key, a namespace and a name
// that are strings already, costs no allocation. Each key has one form only. With
// a namespace, which is not empty and has no slash, the key is namespace/name.
// Without one it is the name.
type objectKey struct{ namespace, name string }

// parseKey returns the objectKey of a key string.
func parseKey(key string) objectKey {
	if i := strings.IndexByte(key, '/'); i > 0 {
		return objectKey{key[:i], key[i+1:]}
	}
	return objectKey{name: key}
}

func (k objectKey) String() string {
	if k.namespace == "" {
		return k.name
	}
	return k.namespace + "/" + k.name
}

// seed makes hashes that cannot be foreseen.
var seed = maphash.MakeSeed()

// hash is never 0, which stands for a hash that was not computed.
func (k objectKey) hash() uint32 {
	h := maphash.String(seed, k.name)
	if k.namespace != "" {
		h ^= bits.RotateLeft64(maphash.String(seed, k.namespace), 17)
	}
	return max(1, uint32(h^h>>32))
}

// keyer computes keys.
type keyer struct {
	keyFunc contract.KeyFunc
	isMeta  bool // keyFunc is known to be namespace/name of the object's metadata
}

func newKeyer(keyFunc contract.KeyFunc) keyer {
	if keyFunc == nil {
		keyFunc = cache.MetaNamespaceKeyFunc
	}
	is := func(known contract.KeyFunc) bool {
		return reflect.ValueOf(keyFunc).Pointer() == reflect.ValueOf(known).Pointer()
	}
	return keyer{keyFunc, is(cache.MetaNamespaceKeyFunc) ||
		is(cache.DeletionHandlingMetaNamespaceKeyFunc)}
}

// of returns the key of an object or of a tombstone (its Key). The error is a
// KeyError.
func (k keyer) of(obj any) (objectKey, error) {
	if tombstone, ok := obj.(contract.DeletedFinalStateUnknown); ok {
		return parseKey(tombstone.Key), nil
	}
	if k.isMeta {
		if o, err := meta.Accessor(obj); err == nil {
			namespace, name := o.GetNamespace(), o.GetName()
			switch {
			case namespace == "":
				return parseKey(name), nil
			case strings.IndexByte(namespace, '/') < 0:
				return objectKey{namespace, name}, nil
			}
		}
	}
	key, err := k.keyFunc(obj)
	if err != nil {
		return objectKey{}, contract.KeyError{Obj: obj, Err: err}
	}
	return parseKey(key), nil
}

// all returns the keys of a list; the error is a KeyError.
func (k keyer) all(list []any) ([]objectKey, error) {
	keys := make([]objectKey, len(list))
	for i, obj := range list {
		var err error
		if keys[i], err = k.of(obj); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// keySet is the set of the keys of a batch. It is reused from batch to batch and is empty
// between them.
type keySet struct {
	few  [8]objectKey
	n    int
	many map[objectKey]struct{} // all keys, once there are more than few
}

// add reports whether key is new.
func (s *keySet) add(key objectKey) bool {
	if s.n < len(s.few) {
		for i := range s.n {
			if s.few[i] == key {
				return false
			}
		}
		s.few[s.n] = key
		s.n++
		return true
	}
	if len(s.many) == 0 {
		if s.many == nil {
			s.many = map[objectKey]struct{}{}
		}
		for _, k := range s.few {
			s.many[k] = struct{}{}
		}
	}
	before := len(s.many)
	s.many[key] = struct{}{}
	return len(s.many) > before
}

func (s *keySet) reset() {
	clear(s.few[:s.n])
	s.n = 0
	clear(s.many)
}
