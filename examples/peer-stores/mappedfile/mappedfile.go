// Package mappedfile keeps objects as protobuf in mapped files, outside of the Go heap, as
// https://github.com/kubernetes/kubernetes/issues/141683 proposes. It is in its plainest form: an
// object is decoded at every read.
//
//	record in the heap: names, version, place ──> slot in a segment: protobuf
//
// A segment is an unlinked temporary file of 8 MiB, mapped read-only, with slots of one size. Four
// sizes lie between a power of two and the next, so a slot wastes a fifth at most. A slot is freed
// when the collector has found its record dead, and is used again; a segment without records is
// given back at once.
//
// What it costs: the kernel counts the pages as the process's file pages (RssFile), or as shared
// memory where the folder is a tmpfs. It may write them out and read them back; reads then wait for
// the disk. An object above 8 MiB, without protobuf, or for which the disk has no space stays in
// the heap.
package mappedfile

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"sync"

	"github.com/informerbench/informerbench/peers/atrest"
)

const (
	segmentBytes = 8 << 20
	minSlot      = 64
)

// Why the keeper does not keep OBJECT-1, and OBJECT-4 and 6.
const (
	Loses   = "protobuf loses parts of a second"
	Decodes = "each read decodes anew, as in the proposal"
)

var (
	errTooLarge = errors.New("mappedfile: larger than a segment")
	errClosed   = errors.New("mappedfile: closed")
)

// Keeper keeps objects in mapped files. Any number of goroutines may use it at once.
type Keeper struct {
	atrest.Keeper
	dir string

	mu struct {
		sync.Mutex
		closed bool
		used   int64              // bytes in slots that hold a record
		mapped int64              // bytes of all segments
		open   map[int][]*segment // those with free slots, by the size of a slot
	}
}

// New returns a Keeper with its files in dir, or in [os.TempDir] if dir is "". The error says that
// no file can be made or mapped there; on systems other than Unix it is errors.ErrUnsupported.
func New(dir string) (*Keeper, error) {
	s, err := newSegment(dir, minSlot)
	if err != nil {
		return nil, fmt.Errorf("mappedfile: %w", err)
	}
	if err := s.close(); err != nil {
		return nil, fmt.Errorf("mappedfile: %w", err)
	}
	k := &Keeper{dir: dir}
	k.mu.open = map[int][]*segment{}
	k.Keeper = atrest.NewProtobuf().In(k.put)
	return k, nil
}

// Close makes Keep return objects as they are from now on. What was kept can still be read; the
// files go with the last record.
func (k *Keeper) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mu.closed = true
}

// Bytes returns the sizes of all slots that hold a record, and of all segments. Pages of a segment
// that never held a record take no memory.
func (k *Keeper) Bytes() (used, mapped int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mu.used, k.mu.mapped
}

// segment is a mapped file. All but mem is under the Keeper's lock.
type segment struct {
	file  *os.File
	mem   []byte
	slot  int   // bytes
	next  int   // the first slot that was never used
	free  []int // slots that were used and freed
	taken int
}

func (s *segment) full() bool { return s.taken == len(s.mem)/s.slot }

// slotFor returns the size of a slot for n bytes: one of four between a power of two and the next.
func slotFor(n int) int {
	if n <= minSlot {
		return minSlot
	}
	step := 1 << (bits.Len(uint(n-1)) - 3)
	return (n + step - 1) / step * step
}

// put copies b into a slot. It writes to the file, which the mapping shows: a full disk is an error
// here, and would be a SIGBUS in a write to memory.
func (k *Keeper) put(b []byte) (placed []byte, free func(), err error) {
	size := slotFor(len(b))
	if size > segmentBytes {
		return nil, nil, errTooLarge
	}
	k.mu.Lock()
	s, at, err := k.takeLocked(size)
	k.mu.Unlock()
	if err != nil {
		return nil, nil, err
	}
	if _, err := s.file.WriteAt(b, int64(at)*int64(size)); err != nil {
		k.release(s, at)
		return nil, nil, err
	}
	return s.mem[at*size:][:len(b):len(b)], func() { k.release(s, at) }, nil
}

func (k *Keeper) takeLocked(size int) (s *segment, at int, err error) {
	if k.mu.closed {
		return nil, 0, errClosed
	}
	open := k.mu.open[size]
	if len(open) == 0 {
		if s, err = newSegment(k.dir, size); err != nil {
			return nil, 0, err
		}
		k.mu.mapped += segmentBytes
		open = append(open, s)
	}
	s = open[len(open)-1]
	if n := len(s.free); n > 0 {
		at, s.free = s.free[n-1], s.free[:n-1]
	} else {
		at = s.next
		s.next++
	}
	s.taken++
	k.mu.used += int64(size)
	if s.full() {
		open = open[:len(open)-1]
	}
	k.mu.open[size] = open
	return s, at, nil
}

func (k *Keeper) release(s *segment, at int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s.full() {
		k.mu.open[s.slot] = append(k.mu.open[s.slot], s)
	}
	s.free = append(s.free, at)
	s.taken--
	k.mu.used -= int64(s.slot)
	if s.taken > 0 {
		return
	}
	open := k.mu.open[s.slot]
	at = slices.Index(open, s)
	k.mu.open[s.slot] = slices.Delete(open, at, at+1)
	k.mu.mapped -= segmentBytes
	if err := s.close(); err != nil {
		panic(fmt.Sprintf("mappedfile: %v", err)) // the arguments are the mapping's own
	}
}
