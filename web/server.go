package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/informerbench/informerbench/internal/loopback"
	"github.com/informerbench/informerbench/measure/record"
)

// DefaultAddress is a free port of the loopback interface.
const DefaultAddress = loopback.DefaultAddress

// DefaultMaxInFlight is the default of Options.MaxInFlight: a browser opens up to 6
// connections.
const DefaultMaxInFlight = 32

// The limits that package loopback does not have.
const (
	// readTimeout is how long a client may take to send a request.
	readTimeout = 60 * time.Second
	// writeTimeout is how long an answer may take. The first list of a thousand runs is the
	// slowest.
	writeTimeout = 5 * time.Minute
	// stopTimeout is how long Stop waits for answers in progress.
	stopTimeout = 2 * time.Second
)

// Options configures a Server. The zero value works.
type Options struct {
	// Address is the address to listen on, "host:port" with a loopback host; port 0 is any
	// free one. The default is DefaultAddress.
	Address string
	// MaxInFlight is the most requests in progress at once. One more gets 503 with
	// Retry-After. The default is DefaultMaxInFlight; a negative number is no limit.
	MaxInFlight int
	// ErrorLog gets the panics of handlers; the default is the standard logger of package
	// log.
	ErrorLog *log.Logger
}

// Server is an HTTP server over a folder of runs. Its methods are safe for concurrent use.
type Server struct {
	options Options
	root    *os.Root
	runs    *runs
	views   *views
	slots   loopback.Slots
	mux     *http.ServeMux
	http    *http.Server
	running sync.WaitGroup

	mu struct {
		sync.Mutex
		listener net.Listener // nil before Start
		stopped  bool
	}
}

// New makes a server over the runs in a folder. It does not listen before Start, and reads no
// run before it is asked. The caller calls Stop when done.
//
// The error names an address that is not on the loopback interface, or says why the folder
// cannot be served.
func New(dir string, options Options) (*Server, error) {
	options.Address = cmp.Or(options.Address, DefaultAddress)
	options.MaxInFlight = cmp.Or(options.MaxInFlight, DefaultMaxInFlight)
	if options.ErrorLog == nil {
		options.ErrorLog = log.Default()
	}
	if err := loopback.CheckAddress(options.Address); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such folder: make a run first (benchrun run), or give the folder that has the runs' folders", dir)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: give the folder that has the runs' folders, such as results", dir, err)
	}
	if _, err := root.Lstat(record.RunFile); err == nil {
		return nil, errors.Join(fmt.Errorf("%s is the folder of one run: give the folder above it, such as %s", dir, filepath.Dir(filepath.Clean(dir))), root.Close())
	}
	s := &Server{
		options: options, root: root, runs: newRuns(files{root, mostFile}), views: newViews(), slots: loopback.NewSlots(options.MaxInFlight),
	}
	s.mux = s.routes()
	s.http = &http.Server{
		Handler:           s,
		ErrorLog:          log.New(io.Discard, "", 0), // clients that disconnect are no errors
		ReadHeaderTimeout: loopback.HeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       loopback.IdleTimeout,
		MaxHeaderBytes:    loopback.MaxHeader,
	}
	return s, nil
}

// Start listens and serves until Stop. It fails if the address is taken, or if the server was
// started or stopped before.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.listener != nil || s.mu.stopped {
		return errors.New("a server starts once: make another with New")
	}
	listener, err := loopback.Listen(s.options.Address)
	if err != nil {
		return err
	}
	s.mu.listener = listener
	s.running.Go(func() {
		// It returns when the listener is closed, by Stop or by an error.
		_ = s.http.Serve(listener)
	})
	return nil
}

// URL is the server's address, such as "http://127.0.0.1:40123/"; "" before Start.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.listener == nil {
		return ""
	}
	return "http://" + s.mu.listener.Addr().String() + "/"
}

// Stop frees the address and closes the folder. Answers in progress have stopTimeout to end.
// It may be called more than once.
func (s *Server) Stop() {
	s.mu.Lock()
	stopped := s.mu.stopped
	s.mu.stopped = true
	s.mu.Unlock()
	if stopped {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close() // its error is about connections already closed
	}
	s.running.Wait()
	_ = s.root.Close() // it was opened for reading only
}
