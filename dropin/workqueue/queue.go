package workqueue

import (
	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/contract"
	ours "github.com/informerbench/informerbench/queue/workqueue"
)

// The interfaces and configurations of client-go's queues.
type (
	// Interface is a queue of items of any type.
	//
	// Deprecated: use TypedInterface.
	//lint:ignore SA1019 programs that still use the name are to find it
	Interface = workqueue.Interface //nolint:staticcheck // as above
	// TypedInterface hands each item to one worker at a time.
	TypedInterface[T comparable] = workqueue.TypedInterface[T]
	// Queue holds the items that are ready, and decides which is next.
	Queue[T comparable] = workqueue.Queue[T]
	// Pausable is a queue whose Get can be held up, as all queues of this package, and those over
	// a queue of the caller's that is one.
	Pausable = contract.Pausable
	// QueueConfig is the configuration of a queue of items of any type.
	//
	// Deprecated: use TypedQueueConfig.
	QueueConfig = workqueue.TypedQueueConfig[any]
	// TypedQueueConfig is the configuration of a queue.
	TypedQueueConfig[T comparable] = workqueue.TypedQueueConfig[T]
)

// Type is the queue that New makes.
//
// Deprecated: use Typed.
type Type = Typed[any]

// Typed is the queue that NewTyped makes. Its zero value is not usable.
type Typed[T comparable] = ours.Queue[T]

// DefaultQueue is the order of a queue whose configuration has none: first in, first out.
func DefaultQueue[T comparable]() Queue[T] { return workqueue.DefaultQueue[T]() }

// New returns a queue without a name, hence without metrics.
//
// Deprecated: use NewTyped.
func New() *Type { return NewTyped[any]() }

// NewTyped returns a queue without a name, hence without metrics.
func NewTyped[T comparable]() *Typed[T] { return NewTypedWithConfig(TypedQueueConfig[T]{}) }

// NewWithConfig returns a queue.
//
// Deprecated: use NewTypedWithConfig.
func NewWithConfig(config QueueConfig) *Type { return NewTypedWithConfig(config) }

// NewTypedWithConfig returns a queue. With a name and a provider of metrics it runs one
// goroutine until it is shut down.
func NewTypedWithConfig[T comparable](config TypedQueueConfig[T]) *Typed[T] {
	return ours.New(ours.Config[T]{
		Name: config.Name, MetricsProvider: providerOr(config.MetricsProvider, config.Name),
		Clock: config.Clock, Order: config.Queue,
	})
}

// NewNamed returns a queue whose metrics have this name.
//
// Deprecated: use NewTypedWithConfig.
func NewNamed(name string) *Type { return NewWithConfig(QueueConfig{Name: name}) }
