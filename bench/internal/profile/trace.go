package profile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/trace"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/measure/record"
)

// The bounds of a trace: it ends after traceTime of measured time, or soon after it has
// grown to traceBytes. A busy machine writes some 20 MB a second. The analysis of 64 MB
// takes seconds and some hundred MB of memory.
const (
	TraceTime  = time.Second
	traceBytes = 64 << 20
	// traceNap is the interval between checks of the size. Sleeping leaves nothing in the
	// block profile of the same fork; waiting for a channel would.
	traceNap = 5 * time.Millisecond
)

// operationMark is the category of the log event that begins an operation.
const operationMark = "operation"

// tracer collects an execution trace of part of the measured time.
type tracer struct {
	file    *os.File
	written atomic.Int64
	over    atomic.Bool // ends it early
	took    time.Duration
}

func (t *tracer) Write(b []byte) (int, error) {
	t.written.Add(int64(len(b)))
	return t.file.Write(b)
}

// TraceUntil traces from now to end, or to one of the bounds, and returns then. A nil
// profiler does nothing. It is called once, after the warm-up.
func (p *Profiler) TraceUntil(end time.Time) error {
	if p == nil {
		return nil
	}
	file, err := os.Create(filepath.Join(p.dir, "trace.out"))
	if err != nil {
		return err
	}
	p.tracer.file = file
	return p.tracer.until(end)
}

func (t *tracer) until(end time.Time) error {
	buffered := bufio.NewWriterSize(t, 1<<20)
	start := time.Now()
	if err := trace.Start(buffered); err != nil {
		return err
	}
	if limit := start.Add(TraceTime); limit.Before(end) {
		end = limit
	}
	for time.Now().Before(end) && t.written.Load() < traceBytes && !t.over.Load() {
		time.Sleep(min(traceNap, time.Until(end)))
	}
	trace.Stop()
	t.took = time.Since(start)
	return buffered.Flush()
}

// EndTrace makes TraceUntil return within traceNap.
func (p *Profiler) EndTrace() {
	if p != nil {
		p.tracer.over.Store(true)
	}
}

// Mark records in the trace that the calling goroutine begins an operation of a series.
func (p *Profiler) Mark(series string) {
	if p != nil {
		trace.Log(context.Background(), operationMark, series)
	}
}

// locks analyses the trace, if there is one, and removes it: a run's folder is kept, and
// the traces of sixty cells would be gigabytes.
func (p *Profiler) locks(f *record.Fork) (err error) {
	t := &p.tracer
	if t.file == nil {
		return nil
	}
	defer func() { err = errors.Join(err, t.file.Close(), os.Remove(t.file.Name())) }()
	if _, err := t.file.Seek(0, 0); err != nil {
		return err
	}
	locks, err := analyseLocks(bufio.NewReaderSize(t.file, 1<<20))
	if err != nil {
		return fmt.Errorf("reading the execution trace: %w", err)
	}
	locks.Traced, locks.Full = float64(t.took), t.written.Load() >= traceBytes
	f.Locks = &locks
	return nil
}
