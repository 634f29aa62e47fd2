package apiserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/load/synthetic"
)

// The resources of a Server without sources.
var (
	Pods  = corev1.SchemeGroupVersion.WithResource("pods")
	Nodes = corev1.SchemeGroupVersion.WithResource("nodes")
)

// Options configures a Server. The zero value works: HTTP without a token on a
// free port of 127.0.0.1.
type Options struct {
	// Address is the address to listen on, "host:port" with a loopback host; port 0 is any
	// free one. The default is DefaultAddress.
	Address string
	// TLS serves HTTPS (and HTTP/2) with a certificate made for this server; RESTConfig and
	// Kubeconfig contain it.
	TLS bool
	// Token is the bearer token that every request must have; "" for none.
	Token string
	// Scheme has the types of the sources' typed objects. The default is client-go's, which
	// has every built-in type.
	Scheme *runtime.Scheme
	// ClusterScoped says which resources have no namespaces. Types that are not Kubernetes'
	// own need it.
	ClusterScoped map[schema.GroupVersionResource]bool
	// Faults are failures between the server and the client, of FaultKinds. Their times
	// count from Start. Faults of synthetic.FaultKinds belong to the sources.
	Faults []synthetic.Fault
	// Clock is the clock of the faults; the default is the real one.
	Clock clock.Clock
	// MaxInFlight is the most reads in progress at once, without watches. A client beyond
	// that gets 429 with Retry-After. The default is DefaultMaxInFlight; a negative number
	// is no limit.
	MaxInFlight int
	// MaxMutatingInFlight is the same for writes; the default is
	// DefaultMaxMutatingInFlight.
	MaxMutatingInFlight int
	// ErrorLog gets the panics of handlers, with their stacks; the default is the standard
	// logger of package log.
	ErrorLog *log.Logger
}

// Server is an HTTP server over one synthetic.Source for each resource. Its methods are safe for
// concurrent use.
//
// Clients may write through it while others write directly into the sources: a request
// changes an object only if it still has the state that the request has read.
type Server struct {
	options   Options
	resources map[schema.GroupVersionResource]*resource
	codecs    serializer.CodecFactory
	frames    frameCache
	inFlight  inFlight
	own       []*synthetic.Source // made by New, stopped by Stop
	cert      *certificate        // nil without TLS
	http      *http.Server

	// ctx ends with Stop; every request's context ends with it.
	ctx     context.Context
	cancel  context.CancelFunc
	faults  atomic.Pointer[synthetic.FaultSchedule]
	running sync.WaitGroup // Serve, requests and connections
	stats   counters

	mu struct {
		sync.Mutex
		started     bool
		stopped     bool
		listener    net.Listener
		connections map[net.Conn]bool // open, and counted in running
	}
}

// New makes a server over sources, by resource; without any it has Pods and Nodes, both
// empty. It does not listen or start a goroutine before Start.
//
// The error names an address that is not on the loopback interface, an invalid fault, or a
// source whose objects' kind is in neither the scheme nor the object. The caller keeps the
// sources and stops them after the server.
func New(sources map[schema.GroupVersionResource]*synthetic.Source, options Options) (*Server,
	error) {
	s := &Server{options: options, resources: map[schema.GroupVersionResource]*resource{}}
	o := &s.options
	o.Address = cmp.Or(o.Address, DefaultAddress)
	o.Scheme = cmp.Or(o.Scheme, scheme.Scheme)
	o.Clock = cmp.Or[clock.Clock](o.Clock, clock.RealClock{})
	o.ErrorLog = cmp.Or(o.ErrorLog, log.Default())
	s.inFlight = newInFlight(o)
	// Other machines must not reach it, because every client may write.
	if err := CheckAddress(o.Address); err != nil {
		return nil, fmt.Errorf("apiserver: %w", err)
	}
	if err := checkFaults(o.Faults); err != nil {
		return nil, err
	}
	s.codecs = serializer.NewCodecFactory(o.Scheme, serializer.WithStreamingCollectionEncodingToJSON(),
		serializer.WithStreamingCollectionEncodingToProtobuf())
	if len(sources) == 0 {
		sources = map[schema.GroupVersionResource]*synthetic.Source{
			Pods:  synthetic.NewSource(nil, synthetic.SourceOptions{Example: &corev1.Pod{}}),
			Nodes: synthetic.NewSource(nil, synthetic.SourceOptions{Example: &corev1.Node{}}),
		}
		for _, source := range sources {
			s.own = append(s.own, source)
		}
	}
	for gvr, source := range sources {
		r, err := newResource(gvr, source, o)
		if err != nil {
			return nil, err
		}
		s.resources[gvr] = r
	}
	if o.TLS {
		var err error
		if s.cert, err = newCertificate(o.Address); err != nil {
			return nil, fmt.Errorf("apiserver: %w", err)
		}
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Start listens and serves until Stop. It fails if the address is taken, or if the server
// was started or stopped before.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.started || s.mu.stopped {
		return errors.New("apiserver: a server starts once: make another with New")
	}
	listener, err := listen(s.options.Address)
	if err != nil {
		return fmt.Errorf("apiserver: %w", err)
	}
	s.startLocked(listener)
	return nil
}

// startLocked serves the listener's connections.
func (s *Server) startLocked(listener net.Listener) {
	s.mu.started = true
	s.mu.listener = listener
	s.mu.connections = map[net.Conn]bool{}
	s.faults.Store(synthetic.NewFaultSchedule(s.options.Faults, s.options.Clock))
	s.http = &http.Server{
		Handler:     http.HandlerFunc(s.serve),
		BaseContext: func(net.Listener) context.Context { return s.ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
		ConnState:         s.connState,
		ErrorLog:          log.New(io.Discard, "", 0), // clients that disconnect are no errors
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
	}
	serve := func() error { return s.http.Serve(listener) }
	if s.cert != nil {
		s.http.TLSConfig = &tls.Config{Certificates: []tls.Certificate{s.cert.pair},
			MinVersion: tls.VersionTLS12}
		serve = func() error { return s.http.ServeTLS(listener, "", "") }
	}
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		// It returns when the listener is closed, by Stop or by an error.
		_ = serve()
	}()
}

// connState counts connections, so that Stop can wait for their goroutines.
func (s *Server) connState(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case state == http.StateNew && s.mu.stopped:
		_ = c.Close() // accepted while http.Server.Close was closing the others
	case state == http.StateNew:
		s.mu.connections[c] = true
		s.running.Add(1)
		s.stats.connections.Add(1)
	case state == http.StateClosed && s.mu.connections[c]:
		delete(s.mu.connections, c)
		s.running.Done()
	}
}

// enter counts a request. After Stop it refuses, because Stop waits for the requests
// counted before.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stopped {
		return false
	}
	s.running.Add(1)
	return true
}

// Stop ends every request and connection, waits until their goroutines have ended, and
// frees the address. It may be called more than once.
func (s *Server) Stop() {
	s.mu.Lock()
	s.mu.stopped = true
	started := s.mu.started
	s.mu.Unlock()
	s.cancel()
	if started {
		_ = s.http.Close() // its error is about connections already closed
	}
	s.running.Wait()
	for _, source := range s.own {
		source.Stop()
	}
}

// URL is the server's address, such as "http://127.0.0.1:40123"; "" before Start.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.listener == nil {
		return ""
	}
	if s.cert != nil {
		return "https://" + s.mu.listener.Addr().String()
	}
	return "http://" + s.mu.listener.Addr().String()
}

// Source returns the source of a resource, nil if the server does not have it.
func (s *Server) Source(gvr schema.GroupVersionResource) *synthetic.Source {
	if r := s.resources[gvr]; r != nil {
		return r.source
	}
	return nil
}

// Struck returns how often each fault of Options.Faults has struck so far.
func (s *Server) Struck() map[synthetic.FaultKind]int {
	if f := s.faults.Load(); f != nil {
		return f.Struck()
	}
	return map[synthetic.FaultKind]int{}
}

// Stats are counts since Start.
type Stats struct {
	Connections int64 // accepted
	Requests    int64
	Watches     int64 // open now
	Opened      int64 // watches opened, including those closed since
	Events      int64 // sent to watchers, including bookmarks
	Encoded     int64 // of Events, those encoded anew instead of taken from the cache
	Bytes       int64 // of events
}

type counters struct {
	connections, requests, watches, opened, events, encoded, bytes atomic.Int64
}

// Stats returns the server's counts so far.
func (s *Server) Stats() Stats {
	c := &s.stats
	return Stats{c.connections.Load(), c.requests.Load(), c.watches.Load(), c.opened.Load(),
		c.events.Load(), c.encoded.Load(), c.bytes.Load()}
}
