// Package loopback has what this project's HTTP servers share: only this machine may reach
// them, no web page in a browser may misuse them, and no client may use them up.
//
// A server listens with Listen, asks CheckRequest before every handler, takes a slot of
// Slots for each request in progress, and gives http.Server the limits below.
package loopback

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The limits keep an idle or greedy client from using up a server. They are those of
// kube-apiserver.
const (
	// HeaderTimeout is how long a client may take to send a request's header.
	HeaderTimeout = 32 * time.Second
	// IdleTimeout is how long a connection is kept without a request.
	IdleTimeout = 90 * time.Second
	// MaxHeader is the most bytes that a request's header may have.
	MaxHeader = 1 << 20
	// RetryAfter is how many seconds a client must wait that was refused because the server
	// was full.
	RetryAfter = 1
)

// DefaultAddress is a free port of the loopback interface.
const DefaultAddress = "127.0.0.1:0"

// IsHost reports whether a host, without a port, is a name or an address of the loopback
// interface. Other names may resolve to it too, but their owner can change that at any time.
func IsHost(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return ip != nil && ip.IsLoopback()
}

// CheckAddress refuses a "HOST:PORT" that other machines could reach. The error says what to
// give instead.
func CheckAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %q: %w: use HOST:PORT, such as %s", address, err, DefaultAddress)
	}
	if !IsHost(host) {
		return fmt.Errorf(
			"address %q is not on the loopback interface: use 127.0.0.1, [::1] or localhost, such as %s",
			address, DefaultAddress)
	}
	return nil
}

// Listen listens on a "HOST:PORT" of the loopback interface; port 0 is any free one. The
// error says what to give instead.
func Listen(address string) (net.Listener, error) {
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w: choose another address, port 0 for a free one", err)
	}
	// The machine's own table of names may give localhost any address.
	if at, ok := listener.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
		_ = listener.Close()
		return nil, fmt.Errorf(
			"address %q resolves to %s, which is not on the loopback interface: use 127.0.0.1 or [::1]",
			address, at.IP)
	}
	return listener, nil
}

// CheckRequest refuses requests that a web page in a browser could send. A page whose own
// name was made to resolve to this server (DNS rebinding) sends that name as Host. Any other
// page sends its Origin with every request that changes something. Programs such as kubectl
// and curl send no Origin, and as Host the loopback address that they were given.
func CheckRequest(req *http.Request) error {
	host := req.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if !IsHost(host) {
		return fmt.Errorf(
			"the request names the host %q: this server answers requests for localhost, 127.0.0.1 and "+
				"[::1] only", req.Host)
	}
	// No browser sends several values; all of them must be local.
	for _, origin := range req.Header.Values("Origin") {
		if from, err := url.Parse(origin); err != nil || !IsHost(from.Hostname()) {
			return fmt.Errorf(
				"the request comes from a page of %q: this server answers pages of localhost, 127.0.0.1 and "+
					"[::1] only", origin)
		}
	}
	return nil
}

// Slots are what requests in progress occupy, one each. The nil value has no limit.
type Slots chan struct{}

// NewSlots makes n slots; a negative n is no limit.
func NewSlots(n int) Slots {
	if n < 0 {
		return nil
	}
	return make(Slots, n)
}

// Enter takes a slot without waiting; the caller calls leave after the answer. It reports
// whether a slot was free.
func (s Slots) Enter() (leave func(), ok bool) {
	if s == nil {
		return func() {}, true
	}
	select {
	case s <- struct{}{}:
		return func() { <-s }, true
	default:
		return nil, false
	}
}
