package web

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"

	"github.com/informerbench/informerbench/internal/loopback"
)

// The policies say what a page may do. Nothing may frame a page.
const (
	// ownPolicy is that of this server's pages: their style sheet and script are files of
	// the server.
	ownPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	// reportPolicy is that of report pages, which come from a run's folder and have their
	// style and script in them. The sandbox takes their origin: they read no other page.
	// They may name a stricter policy themselves.
	reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox allow-scripts"
	// pprofPolicy is that of pprof's pages, which have their style and script in them. The
	// sandbox takes their origin, because a profile may come from anybody.
	pprofPolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-downloads"
)

// ServeHTTP implements http.Handler: the checks before every page.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	defer s.recovered(w, req)
	h := w.Header()
	h.Set("Content-Security-Policy", ownPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store") // a run in progress grows
	if err := loopback.CheckRequest(req); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if err := checkFetch(req); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, fmt.Sprintf("method %s: this server answers GET and HEAD; it changes nothing", req.Method), http.StatusMethodNotAllowed)
		return
	}
	leave, ok := s.slots.Enter()
	if !ok {
		h.Set("Retry-After", strconv.Itoa(loopback.RetryAfter))
		http.Error(w, "too many requests are in progress: try again later", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	s.mux.ServeHTTP(w, req)
}

// checkFetch refuses what a page of another origin requests in the background, such as a
// script or picture. Browsers say so in Sec-Fetch-Site; other programs send no such field.
// Whoever follows a link, or types the address, may come from anywhere: such a request changes
// nothing, and the page that has the link cannot read the answer. Pages in a sandbox have no
// origin, so their links come from another site too.
//
// Source: https://www.w3.org/TR/fetch-metadata/, and its resource isolation policy in
// https://web.dev/articles/fetch-metadata.
func checkFetch(req *http.Request) error {
	switch site := req.Header.Get("Sec-Fetch-Site"); {
	case site == "", site == "none", site == "same-origin":
		return nil
	case req.Header.Get("Sec-Fetch-Mode") == "navigate" && req.Header.Get("Sec-Fetch-Dest") == "document":
		return nil
	default:
		return fmt.Errorf("a page of another origin (%s) requests this in the background: open the address itself", site)
	}
}

// recovered is deferred by ServeHTTP. A panic is logged with its stack.
func (s *Server) recovered(w http.ResponseWriter, req *http.Request) {
	reason := recover()
	if reason == nil {
		return
	}
	if reason == http.ErrAbortHandler { //nolint:errorlint // the panic's value itself
		panic(reason)
	}
	// Quoted, because a client chooses the path and may influence the reason.
	s.options.ErrorLog.Printf("panic in %s %q: %q\n%s", req.Method, req.URL.Path, fmt.Sprint(reason), debug.Stack())
	http.Error(w, "this page could not be made: the terminal of benchrun serve has the reason", http.StatusInternalServerError)
}
