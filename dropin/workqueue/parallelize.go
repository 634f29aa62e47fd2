package workqueue

import (
	"context"

	"k8s.io/client-go/util/workqueue"
)

type (
	// DoWorkPieceFunc does a piece of work, given its number.
	DoWorkPieceFunc = workqueue.DoWorkPieceFunc
	// Options are those of ParallelizeUntil.
	Options = workqueue.Options
)

// WithChunkSize has each worker take chunks of so many pieces. It is client-go's function,
// whose result has a type without an exported name.
var WithChunkSize = workqueue.WithChunkSize

// ParallelizeUntil does pieces of work on several workers until all are done or the context
// is. It is client-go's.
func ParallelizeUntil(ctx context.Context, workers, pieces int, doWorkPiece DoWorkPieceFunc,
	opts ...Options) {
	workqueue.ParallelizeUntil(ctx, workers, pieces, doWorkPiece, opts...)
}
