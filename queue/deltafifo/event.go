package deltafifo

// Events: the calls of producers, as they wait.

import (
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/segqueue"
)

// kind says what an event is.
type kind uint8

const (
	added kind = iota
	updated
	deleted
	replaced
	synced
	replacedAll
	syncAll
	bookmarked
	relisted // obj is a *relist
	resynced // obj is nil
	putBack  // obj is contract.Deltas
)

// deltaTypes are the types of the kinds that are one delta.
var deltaTypes = [...]contract.DeltaType{
	added: contract.Added, updated: contract.Updated, deleted: contract.Deleted,
	replaced: contract.Replaced, synced: contract.Sync,
	replacedAll: contract.ReplacedAll, syncAll: contract.SyncAll, bookmarked: contract.Bookmark,
}

// event is one call of a producer.
type event struct {
	key  objectKey
	obj  any
	kind kind
	hash uint32 // of key; 0: not computed
}

func (ev *event) delta() contract.Delta {
	return contract.Delta{Type: deltaTypes[ev.kind], Object: ev.obj}
}

// relist is a Replace whose objects have keys, as the obj of its event.
type relist struct {
	keys  []objectKey
	objs  []any
	first bool // HasSynced waits for it
}

// events is a queue of events, and spares are its empty segments.
type (
	events = segqueue.Queue[event]
	spares = segqueue.Spares[event]
)
