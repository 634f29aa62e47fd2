package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What surrounds every handler: the deadlines of its answer, and the recovery from a handler's
// panic.

func forbidden(message string) error {
	return statusError(http.StatusForbidden, metav1.StatusReasonForbidden, message)
}

// response is a ResponseWriter that records whether the status was sent. From then on the
// only way to report an error is to cut the connection.
type response struct {
	http.ResponseWriter
	started bool
	limited bool // a client that reads nothing for writeTimeout is disconnected
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

// setDeadline sets the time by which writes must be sent; the zero time is no deadline.
func (r *response) setDeadline(at time.Time) {
	// The error is that of a closed connection, which the next Write reports.
	_ = http.NewResponseController(r.ResponseWriter).SetWriteDeadline(at)
}

// Unwrap lets http.ResponseController find Flush and the deadlines.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// recovered is deferred by the handler. A panic is logged with its stack, and the client
// gets 500. http.ErrAbortHandler is no error: it ends a connection on purpose.
func (s *Server) recovered(a *response, req *http.Request) {
	reason := recover()
	if reason == nil {
		return
	}
	if err, ok := reason.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(http.ErrAbortHandler)
	}
	// Quoted, because a client chooses the path and may influence the reason.
	s.options.ErrorLog.Printf("apiserver: panic in %s %q: %q\n%s", req.Method, req.URL.Path,
		fmt.Sprint(reason), debug.Stack())
	if a.started {
		panic(http.ErrAbortHandler)
	}
	s.writeError(a, req, apierrors.NewInternalError(
		errors.New("the handler panicked: the server's log has the stack")))
}
