package load

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/contract"
)

// Op names an operation in workloads and benchmarks. Several components may have an
// operation of the same name, each with a meaning of its own.
type Op string

// The operations. Operations returns those of a component, with a description of each.
const (
	OpGet         Op = "get"
	OpList        Op = "list"
	OpListKeys    Op = "list-keys"
	OpByIndex     Op = "by-index"
	OpIndex       Op = "index"
	OpIndexKeys   Op = "index-keys"
	OpUpdate      Op = "update"
	OpUpdateIndex Op = "update-index"
	OpAddDelete   Op = "add-delete"
	OpReplace     Op = "replace"
	OpTransaction Op = "transaction"

	OpAdd    Op = "add"
	OpAddPop Op = "add-pop"
	OpPop    Op = "pop"
	OpResync Op = "resync"

	OpMixed      Op = "mixed"
	OpAddEarlier Op = "add-earlier"
	OpAddFirst   Op = "add-first"

	OpAddGetDone     Op = "add-get-done"
	OpGetDone        Op = "get-done"
	OpAddAfter       Op = "add-after"
	OpAddRateLimited Op = "add-rate-limited"

	OpGetCold Op = "get-cold"

	OpListNamespace Op = "list-namespace"
	OpHandle        Op = "handle"
	OpDeliver       Op = "deliver"
	OpSync          Op = "sync"
	OpSyncStream    Op = "sync-stream"
	OpRelist        Op = "relist"
)

// Role is an operation's effect on the component.
type Role string

// The roles.
const (
	RoleRead    Role = "read"    // does not change it
	RoleWrite   Role = "write"   // changes it, or adds to it
	RoleConsume Role = "consume" // takes items out and handles them; it may block when there are none
)

// Operation describes an operation of one component.
type Operation struct {
	Op        Op
	Component contract.Component
	Role      Role
	// Single reports whether the operation may be in Workload.Ops: it needs no other actor
	// to make progress.
	Single bool
	// Indexed reports whether it reads an index.
	Indexed bool
	Does    string
}

var operations = []Operation{
	{OpGet, contract.ComponentStore, RoleRead, true, false, "Get of one key"},
	{OpList, contract.ComponentStore, RoleRead, true, false, "List of all objects"},
	{OpListKeys, contract.ComponentStore, RoleRead, true, false, "ListKeys of all objects"},
	{OpByIndex, contract.ComponentStore, RoleRead, true, true, "ByIndex of one value"},
	{OpIndex, contract.ComponentStore, RoleRead, true, true, "Index by one object"},
	{OpIndexKeys, contract.ComponentStore, RoleRead, true, true, "IndexKeys of one value"},
	{OpUpdate, contract.ComponentStore, RoleWrite, true, false,
		"Update that leaves the indexed values as they are"},
	{OpUpdateIndex, contract.ComponentStore, RoleWrite, true, false,
		"Update that moves the object to another node"},
	{OpAddDelete, contract.ComponentStore, RoleWrite, true, false,
		"Delete of one key, then Add of it"},
	{OpReplace, contract.ComponentStore, RoleWrite, true, false, "Replace of all objects"},
	{OpTransaction, contract.ComponentStore, RoleWrite, true, false,
		"Transaction of a batch of updates"},

	{OpAdd, contract.ComponentFIFO, RoleWrite, true, false,
		"Add of one object, a producer; alone, of one whose key does not wait"},
	{OpAddPop, contract.ComponentFIFO, RoleWrite, true, false,
		"Add of one object, then Pop by the same goroutine"},
	{OpPop, contract.ComponentFIFO, RoleConsume, true, false,
		"Pop and handle, the consumer; alone, of what waits already"},
	{OpReplace, contract.ComponentFIFO, RoleWrite, true, false,
		"Replace of all objects, then Pop until it is empty"},
	{OpResync, contract.ComponentFIFO, RoleWrite, true, false,
		"Resync of all known objects, then Pop until it is empty"},

	{OpAdd, contract.ComponentDelay, RoleWrite, true, false, "Add of one item"},
	{OpPop, contract.ComponentDelay, RoleConsume, true, false, "PopReady of the earliest item"},
	{OpMixed, contract.ComponentDelay, RoleWrite, true, false,
		"PopReady of the earliest item, then Add of it again later"},
	{OpAddEarlier, contract.ComponentDelay, RoleWrite, true, false,
		"Add of an item that waits, for an earlier time"},
	{OpAddFirst, contract.ComponentDelay, RoleWrite, true, false,
		"Add of one item for a time before all others: times fall"},

	{OpAddGetDone, contract.ComponentQueue, RoleWrite, true, false,
		"Add, Get and Done of one item by the same goroutine"},
	{OpAdd, contract.ComponentQueue, RoleWrite, false, false, "Add of one item"},
	{OpGetDone, contract.ComponentQueue, RoleConsume, false, false, "Get, handle and Done, a worker"},
	{OpAddAfter, contract.ComponentQueue, RoleWrite, true, false,
		"AddAfter of one item: a new one at first, later one that waits, for an earlier time"},
	{OpAddRateLimited, contract.ComponentQueue, RoleWrite, true, false, "AddRateLimited of one item"},

	{OpGet, contract.ComponentObjects, RoleRead, true, false, "Get of one of 256 that a reader holds"},
	{OpGetCold, contract.ComponentObjects, RoleRead, true, false, "Get of one that no reader holds"},
	{OpList, contract.ComponentObjects, RoleRead, true, false, "List of all objects"},
	{OpByIndex, contract.ComponentObjects, RoleRead, true, true, "ByIndex of one value"},
	{OpUpdate, contract.ComponentObjects, RoleWrite, true, false,
		"decoding of one object from protobuf, and its Update"},

	{OpDeliver, contract.ComponentInformer, RoleWrite, true, false,
		"one MODIFIED event from the watch to every handler, one handler per goroutine; bursts of 1,024"},
	{OpSync, contract.ComponentInformer, RoleWrite, true, false,
		"a new informer, from Run to the last initial add of its one handler; it lists"},
	{OpSyncStream, contract.ComponentInformer, RoleWrite, true, false,
		"the same with a streaming list (sendInitialEvents)"},
	{OpUpdate, contract.ComponentInformer, RoleWrite, false, false,
		"one MODIFIED event at the watch; in a closed loop at most 10 ahead of the first handler"},
	{OpHandle, contract.ComponentInformer, RoleConsume, false, false,
		"a handler of the informer, one per goroutine"},
	{OpRelist, contract.ComponentInformer, RoleWrite, false, false,
		"the answer to the list after a 410, until a handler has been told of every object's new version"},
	{OpGet, contract.ComponentInformer, RoleRead, false, false, "GetByKey of the indexer"},
	{OpList, contract.ComponentInformer, RoleRead, false, false, "List of all objects"},
	{OpByIndex, contract.ComponentInformer, RoleRead, false, true, "ByIndex of one value"},
	{OpListNamespace, contract.ComponentInformer, RoleRead, false, false,
		"ListAllByNamespace, as generated listers do"},
}

// Operations returns the operations of a component, in the order of reports. It
// is empty for a component that no workload measures.
func Operations(c contract.Component) []Operation {
	return slices.DeleteFunc(slices.Clone(operations), func(o Operation) bool {
		return o.Component != c
	})
}

// LookupOperation finds an operation of a component. The error names the component's
// operations.
func LookupOperation(c contract.Component, op Op) (Operation, error) {
	have := Operations(c)
	if i := slices.IndexFunc(have, func(o Operation) bool { return o.Op == op }); i >= 0 {
		return have[i], nil
	}
	return Operation{}, fmt.Errorf("unknown operation %q of a %s: use one of %s", op, c,
		join(have, func(o Operation) string {
			return string(o.Op)
		}))
}

// Components returns the components that a workload can be about.
func Components() []contract.Component {
	return []contract.Component{contract.ComponentStore, contract.ComponentFIFO,
		contract.ComponentDelay, contract.ComponentQueue, contract.ComponentInformer,
		contract.ComponentObjects}
}

func join[T any](list []T, name func(T) string) string {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = name(v)
	}
	return strings.Join(names, ", ")
}
