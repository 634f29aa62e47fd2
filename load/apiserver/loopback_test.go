package apiserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ address, refused string }{
		{"127.0.0.1:0", ""}, {"127.9.8.7:80", ""}, {"[::1]:0", ""}, {"localhost:8080", ""},
		{"LOCALHOST:0", ""},
		{":0", "not on the loopback"}, {"0.0.0.0:0", "not on the loopback"},
		{"[::]:0", "not on the loopback"}, {"10.0.0.1:0", "not on the loopback"},
		{"localhost.example:0", "not on the loopback"}, {"example.com:80", "not on the loopback"},
		{"127.0.0.1", "HOST:PORT"}, {"", "HOST:PORT"},
	} {
		err := CheckAddress(c.address)
		if (err == nil) != (c.refused == "") || err != nil &&
			(!strings.Contains(err.Error(), c.refused) || !strings.Contains(err.Error(), DefaultAddress)) {
			t.Errorf("%q: %v, want an error about %q that names another address", c.address, err, c.refused)
		}
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	if _, err := listen("0.0.0.0:0"); err == nil {
		t.Error("it listens on every interface")
	}
	listener, err := listen(DefaultAddress)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if _, err := listen(listener.Addr().String()); err == nil ||
		!strings.Contains(err.Error(), "choose another address") {
		t.Errorf("a taken address: %v, want an error that says what to do", err)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host    string
		origins []string
		refused bool
	}{
		{"127.0.0.1:80", nil, false},
		{"localhost", []string{"http://localhost:3000"}, false},
		{"[::1]:9", []string{"http://[::1]"}, false},
		{"", nil, true},
		{"evil.example", nil, true},
		{"127.0.0.1.evil.example", nil, true},
		{"10.0.0.1", nil, true},
		{"localhost", []string{"null"}, true},
		{"localhost", []string{"https://localhost@evil.example"}, true},
		{"localhost", []string{"http://localhost", "https://evil.example"}, true},
	} {
		req := httptest.NewRequest(http.MethodGet, "/", nil)
		req.Host = c.host
		for _, origin := range c.origins {
			req.Header.Add("Origin", origin)
		}
		if err := checkLocal(req); (err != nil) != c.refused {
			t.Errorf("Host %q, Origin %q: %v, refused: want %v", c.host, c.origins, err, c.refused)
		}
	}
}

func TestSlots(t *testing.T) {
	t.Parallel()
	f := newInFlight(&Options{MaxInFlight: 1, MaxMutatingInFlight: -1})
	leave, err := f.enter(http.MethodGet)
	if _, again := f.enter(http.MethodGet); err != nil || again == nil {
		t.Fatalf("entered: %v, and again: %v; want one", err, again)
	}
	leave()
	if _, err := f.enter(http.MethodGet); err != nil {
		t.Errorf("a slot that was left is taken: %v", err)
	}
	for range 1000 {
		if _, err := f.enter(http.MethodPost); err != nil {
			t.Fatalf("no limit has an end: %v", err)
		}
	}
}
