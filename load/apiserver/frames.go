package apiserver

import (
	"bytes"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// appendFrame encodes one event of a watch in its wire format.
func (m media) appendFrame(into *bytes.Buffer, r *resource, e watch.Event) error {
	obj := e.Object
	if e.Type == watch.Error {
		obj = withKind(obj, statusKind)
	} else {
		obj = m.object(obj, r.gvk)
	}
	if !m.protobuf() {
		// A WatchEvent is written by hand: encoding one would parse and copy the object
		// again.
		fmt.Fprintf(into, `{"type":%q,"object":`, e.Type)
		if err := m.info.Serializer.Encode(obj, into); err != nil {
			return err
		}
		into.Truncate(len(bytes.TrimRight(into.Bytes(), "\n")))
		into.WriteString("}\n")
		return nil
	}
	var raw bytes.Buffer
	if err := m.info.Serializer.Encode(obj, &raw); err != nil {
		return err
	}
	event := &metav1.WatchEvent{Type: string(e.Type), Object: runtime.RawExtension{Raw: raw.Bytes()}}
	return m.info.StreamSerializer.Encode(event, m.info.StreamSerializer.NewFrameWriter(into))
}

// framesKept bounds the cache: watchers that are further apart than this many events encode
// on their own. 1,000 pods of 9 KB are 9 MB.
const framesKept = 1000

// frameCache holds the newest encoded events, so that each is encoded once for all watchers
// that want it in the same form.
type frameCache struct {
	mu struct {
		sync.Mutex
		frames map[frameKey]*frame
		ring   [framesKept]frameKey // in the order of insertion
		next   int
	}
}

// frameKey identifies an event: sources make a new object for each, and a selector may
// change an event's type.
type frameKey struct {
	obj   runtime.Object
	event watch.EventType
	media string
}

type frame struct {
	once sync.Once
	data []byte
	err  error
}

// get returns the frame of a key. The first caller for the key makes it with encode.
func (c *frameCache) get(key frameKey, encode func() ([]byte, error)) ([]byte, error) {
	c.mu.Lock()
	f := c.mu.frames[key]
	if f == nil {
		f = &frame{}
		if c.mu.frames == nil {
			c.mu.frames = make(map[frameKey]*frame, framesKept)
		}
		delete(c.mu.frames, c.mu.ring[c.mu.next]) // deletes nothing until the ring is full
		c.mu.ring[c.mu.next] = key
		c.mu.next = (c.mu.next + 1) % framesKept
		c.mu.frames[key] = f
	}
	c.mu.Unlock()
	f.once.Do(func() { f.data, f.err = encode() })
	return f.data, f.err
}
