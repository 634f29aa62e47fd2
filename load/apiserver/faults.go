package apiserver

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informerbench/informerbench/load/synthetic"
)

// The faults of a Server. Faults of a synthetic.Source occur behind the Server, in the place of
// the watch cache; these occur between the Server and the client. A request is one for a
// resource: discovery never fails.
const (
	// FaultTooMany answers a request with 429 and Retry-After: Delay, in whole seconds,
	// rounded up. The request has no effect. Occasion: a request.
	FaultTooMany synthetic.FaultKind = "too-many-requests"
	// FaultInternal answers a request with 500. The request has no effect. Occasion: a
	// request.
	FaultInternal synthetic.FaultKind = "internal-error"
	// FaultReset resets the connection instead of an answer. The request has no effect.
	// Occasion: a request.
	FaultReset synthetic.FaultKind = "reset"
	// FaultCutList resets the connection before the end of a list. Occasion: a list.
	FaultCutList synthetic.FaultKind = "cut-list"
	// FaultCut resets the connection in the middle of an event. Occasion: an event
	// about to be sent.
	FaultCut synthetic.FaultKind = "cut"
	// FaultHalfClose closes the server's half of the connection in the middle of an event,
	// and keeps the other half until the client closes it. Over HTTP/2, which has no
	// half-close, it is FaultCut. Occasion: an event about to be sent.
	FaultHalfClose synthetic.FaultKind = "half-close"
	// FaultSlow sends an event in pieces over Delay. Occasion: an event about to be sent.
	FaultSlow synthetic.FaultKind = "slow"
)

// FaultKinds lists the kinds, for messages and checks.
func FaultKinds() []synthetic.FaultKind {
	return []synthetic.FaultKind{FaultTooMany, FaultInternal, FaultReset, FaultCutList, FaultCut,
		FaultHalfClose, FaultSlow}
}

// delayed are the kinds that have a Delay.
var delayed = []synthetic.FaultKind{FaultTooMany, FaultSlow}

func checkFaults(faults []synthetic.Fault) error {
	for i, f := range faults {
		if slices.Contains(synthetic.FaultKinds(), f.Kind) {
			return fmt.Errorf(
				"apiserver: faults[%d]: %q is a fault of a source: give it to synthetic.SourceOptions.Faults",
				i, f.Kind)
		}
		if problems := f.Problems(FaultKinds(), delayed); len(problems) > 0 {
			return fmt.Errorf("apiserver: faults[%d]: %w", i, problems[0])
		}
	}
	return nil
}

// RandomFaults makes up faults for a Server and for a source, of every kind that either
// supports; the same seed gives the same faults. They begin once a watch has caught up. Each
// strikes repeatedly, some events apart, and at most count times. Then the network is healthy,
// so that watches can catch up. Delays are up to a second for 429 and tens of milliseconds for
// the others.
func RandomFaults(seed uint64, count int) (server, source []synthetic.Fault) {
	rng := rand.New(rand.NewPCG(seed, 0))
	some := func(kind synthetic.FaultKind, often int) synthetic.Fault {
		f := synthetic.Fault{Kind: kind, AfterEvents: rng.IntN(often), EveryEvents: 1 + rng.IntN(often),
			Count: count, AfterSync: true}
		switch kind {
		case FaultTooMany:
			f.Delay = time.Second
		case FaultSlow, synthetic.FaultDelay:
			f.Delay = time.Duration(1+rng.IntN(50)) * time.Millisecond
		}
		return f
	}
	// Requests are few, so their faults strike more often.
	for _, kind := range FaultKinds() {
		often := 200
		if kind == FaultTooMany || kind == FaultInternal || kind == FaultReset || kind == FaultCutList {
			often = 10
		}
		server = append(server, some(kind, often))
	}
	for _, kind := range synthetic.FaultKinds() {
		often := 200
		switch kind {
		case synthetic.FaultListError, synthetic.FaultWatchRefused, synthetic.FaultTooLarge,
			synthetic.FaultExpireContinue, synthetic.FaultDropBookmarks, synthetic.FaultCacheFilling:
			often = 10
		}
		source = append(source, some(kind, often))
	}
	return server, source
}

// strike counts an occasion and returns the fault that strikes, or nil. Without faults it
// costs nothing.
func (s *Server) strike(kind synthetic.FaultKind) *synthetic.Fault {
	if len(s.options.Faults) == 0 {
		return nil
	}
	return s.faults.Load().Strike(kind)
}

func errAsked(kind synthetic.FaultKind) error {
	return fmt.Errorf("the fault %s was asked for", kind)
}

// requestFault strikes a request before it has any effect.
func (s *Server) requestFault(req *http.Request) error {
	if s.strike(FaultReset) != nil {
		reset(req)
	}
	if f := s.strike(FaultTooMany); f != nil {
		seconds := (f.Delay + time.Second - 1) / time.Second
		return apierrors.NewTooManyRequests(errAsked(FaultTooMany).Error(), int(seconds))
	}
	if s.strike(FaultInternal) != nil {
		return apierrors.NewInternalError(errAsked(FaultInternal))
	}
	return nil
}

// listFault strikes a list that is written, but whose end the client has not received.
func (s *Server) listFault(w http.ResponseWriter, req *http.Request) {
	if s.strike(FaultCutList) != nil {
		_ = http.NewResponseController(w).Flush() // the connection is about to be reset anyway
		reset(req)
	}
}

// fault strikes a frame that is about to be sent. It returns the rest of the frame that is
// still to be sent; an error ends the watch.
func (st *stream) fault(frame []byte) ([]byte, error) {
	s := st.server
	if len(s.options.Faults) == 0 {
		return frame, nil
	}
	if f := s.strike(FaultSlow); f != nil {
		return st.sendSlowly(frame, f.Delay)
	}
	half := func() {
		_, _ = st.w.Write(frame[:len(frame)/2])
		_ = st.control.Flush()
	}
	if s.strike(FaultCut) != nil {
		half()
		reset(st.req)
	}
	if s.strike(FaultHalfClose) != nil {
		half()
		if c, ok := connection(st.req).(interface{ CloseWrite() error }); ok && st.req.ProtoMajor == 1 {
			_ = c.CloseWrite()
			<-st.req.Context().Done() // the client has closed its half, or Stop was called
		}
		panic(http.ErrAbortHandler)
	}
	return frame, nil
}

// slowPieces is the number of writes of a slow event.
const slowPieces = 8

// sendSlowly sends all of a frame except the last piece, with pauses that add up to delay.
// It returns that piece.
func (st *stream) sendSlowly(frame []byte, delay time.Duration) ([]byte, error) {
	size := len(frame)/slowPieces + 1
	timer := st.server.options.Clock.NewTimer(delay / slowPieces)
	defer timer.Stop()
	for len(frame) > size {
		if _, err := st.w.Write(frame[:size]); err != nil {
			return nil, err
		}
		if err := st.control.Flush(); err != nil {
			return nil, err
		}
		frame = frame[size:]
		select {
		case <-timer.C():
			timer.Reset(delay / slowPieces)
		case <-st.req.Context().Done():
			return nil, st.req.Context().Err()
		}
	}
	return frame, nil
}

// connKey is the context's key of a request's connection.
type connKey struct{}

func connection(req *http.Request) net.Conn {
	c, _ := req.Context().Value(connKey{}).(net.Conn)
	return c
}

// reset ends the request without ending its answer. It ends the connection with a TCP reset
// where possible (not under TLS, whose connections are not TCPConns).
func reset(req *http.Request) {
	if c, ok := connection(req).(*net.TCPConn); ok {
		_ = c.SetLinger(0)
	}
	panic(http.ErrAbortHandler)
}
