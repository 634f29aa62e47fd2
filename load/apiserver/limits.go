package apiserver

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The limits keep an idle or greedy client from using up the server. They are kube-apiserver's,
// except writeTimeout: it allows 60 s for the whole answer.
const (
	// headerTimeout is how long a client may take to send a request's header.
	headerTimeout = 32 * time.Second
	// idleTimeout is how long a connection is kept without a request.
	idleTimeout = 90 * time.Second
	// maxHeader is the most bytes that a request's header may have.
	maxHeader = 1 << 20
	// bodyTimeout is how long a client may take to send a request's body.
	bodyTimeout = 60 * time.Second
	// writeTimeout is how long a client may take to read 64 KiB (responseBuffer) of an
	// answer other than a watch. Without it, its request could hold a slot of inFlight
	// forever.
	writeTimeout = 60 * time.Second
)

// The defaults of Options, which are kube-apiserver's.
const (
	DefaultMaxInFlight         = 400
	DefaultMaxMutatingInFlight = 200
)

// inFlight counts the requests in progress, reads and writes separately, so that neither
// can block the other.
type inFlight struct {
	reads, writes chan struct{}
}

func newInFlight(o *Options) inFlight {
	slots := func(n, ordinary int) chan struct{} {
		if n = cmp.Or(n, ordinary); n < 0 {
			return nil // no limit
		}
		return make(chan struct{}, n)
	}
	return inFlight{slots(o.MaxInFlight, DefaultMaxInFlight),
		slots(o.MaxMutatingInFlight, DefaultMaxMutatingInFlight)}
}

// enter takes a slot for a request; the caller calls leave after the answer. Without a free
// slot, the error is 429, which asks the client to wait for a second.
func (f inFlight) enter(method string) (leave func(), err error) {
	slots := f.writes
	if reads(method) {
		slots = f.reads
	}
	if slots == nil {
		return func() {}, nil
	}
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	default:
		return nil, apierrors.NewTooManyRequests(
			"too many requests are in flight: please try again later", 1)
	}
}

func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// watches reports whether a request is a watch, by the rule of kube-apiserver's
// decoder: any value but "false" and "0" is true.
func (t target) watches(req *http.Request) bool {
	if t.resource == nil || t.name != "" || !reads(req.Method) {
		return false
	}
	values := req.URL.Query()["watch"]
	return len(values) > 0 && !slices.Contains([]string{"false", "0"}, strings.ToLower(values[0]))
}
