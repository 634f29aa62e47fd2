package apiserver

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Only this machine may reach the server, and no web page in a browser may misuse it.

// DefaultAddress is a free port of the loopback interface.
const DefaultAddress = "127.0.0.1:0"

// isLocal reports whether a host, without a port, is a name or an address of the loopback
// interface. Other names may resolve to it too, but their owner can change that at any time.
func isLocal(host string) bool {
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
	if !isLocal(host) {
		return fmt.Errorf(
			"address %q is not on the loopback interface: use 127.0.0.1, [::1] or localhost, such as %s",
			address, DefaultAddress)
	}
	return nil
}

// listen listens on a "HOST:PORT" of the loopback interface; port 0 is any free one. The
// error says what to give instead.
func listen(address string) (net.Listener, error) {
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

// checkLocal refuses requests that a web page in a browser could send. A page whose own
// name was made to resolve to this server (DNS rebinding) sends that name as Host. Any other
// page sends its Origin with every request that changes something. Programs such as kubectl
// and curl send no Origin, and as Host the loopback address that they were given.
func checkLocal(req *http.Request) error {
	host := req.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if !isLocal(host) {
		return forbidden(fmt.Sprintf(
			"the request names the host %q: this server answers requests for localhost, 127.0.0.1 and "+
				"[::1] only", req.Host))
	}
	// No browser sends several values; all of them must be local.
	for _, origin := range req.Header.Values("Origin") {
		if from, err := url.Parse(origin); err != nil || !isLocal(from.Hostname()) {
			return forbidden(fmt.Sprintf(
				"the request comes from a page of %q: this server answers pages of localhost, 127.0.0.1 and "+
					"[::1] only", origin))
		}
	}
	return nil
}
