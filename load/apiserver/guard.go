package apiserver

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What stands before every handler: whether the request comes from this machine, and
// what happens when a handler panics.

// isLoopback reports whether a host, without a port, is a name or an address of the
// loopback interface. Other names may lead there too, but their owner decides where
// they lead, and may decide anew at any time.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return ip != nil && ip.IsLoopback()
}

// checkLocal refuses what a page in a browser could send. A page whose own name was
// made to lead here (DNS rebinding) sends that name as Host; any other page sends its
// Origin with whatever changes something. Clients such as kubectl send no Origin, and
// as Host what the kubeconfig says, which is a loopback address.
func checkLocal(req *http.Request) error {
	host := req.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if !isLoopback(host) {
		return forbidden(fmt.Sprintf("the request names the host %q: this server answers requests for localhost, 127.0.0.1 and [::1] only", req.Host))
	}
	// Several values are one list that no browser sends: all of them count.
	for _, origin := range req.Header.Values("Origin") {
		if from, err := url.Parse(origin); err != nil || !isLoopback(from.Hostname()) {
			return forbidden(fmt.Sprintf("the request comes from a page of %q: this server answers pages of localhost, 127.0.0.1 and [::1] only", origin))
		}
	}
	return nil
}

func forbidden(message string) error {
	return statusError(http.StatusForbidden, metav1.StatusReasonForbidden, message)
}

// response is a ResponseWriter that knows whether the status has been sent: from then on
// the only way to report an error is to cut the connection.
type response struct {
	http.ResponseWriter
	started bool
	limited bool // a client that takes nothing for writeTimeout is disconnected
}

func (r *response) WriteHeader(code int) {
	r.started = true
	r.ResponseWriter.WriteHeader(code)
}

func (r *response) Write(data []byte) (int, error) {
	r.started = true
	if !r.limited {
		return r.ResponseWriter.Write(data)
	}
	// In pieces, so that a large answer may take as long as it needs.
	written := 0
	for {
		r.setDeadline(time.Now().Add(writeTimeout))
		n, err := r.ResponseWriter.Write(data[written:min(written+responseBuffer, len(data))])
		written += n
		if err != nil || written == len(data) {
			return written, err
		}
	}
}

// setDeadline sets the time by which what is written must be sent; the zero time is none.
func (r *response) setDeadline(at time.Time) {
	// The error is that of a closed connection, which the next Write reports.
	_ = http.NewResponseController(r.ResponseWriter).SetWriteDeadline(at)
}

// Unwrap is how http.ResponseController finds Flush and the deadlines.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// recovered is deferred by the handler. A panic goes to the log with its stack, and the
// client gets 500. http.ErrAbortHandler is no fault: it ends a connection on purpose.
func (s *Server) recovered(a *response, req *http.Request) {
	reason := recover()
	if reason == nil {
		return
	}
	if err, ok := reason.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(http.ErrAbortHandler)
	}
	// Quoted, since a client chooses the path and may have a part in the reason.
	s.options.ErrorLog.Printf("apiserver: panic in %s %q: %q\n%s", req.Method, req.URL.Path, fmt.Sprint(reason), debug.Stack())
	if a.started {
		panic(http.ErrAbortHandler)
	}
	s.writeError(a, req, apierrors.NewInternalError(errors.New("the handler panicked: the server's log has the stack")))
}
