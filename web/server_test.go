package web

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep(t, dir, "a", sample("a", 1, 50))
	for _, c := range []struct{ dir, address, want string }{
		{dir, "0.0.0.0:80", "loopback"},
		{dir, ":80", "loopback"},
		{dir, "192.168.0.1:80", "loopback"},
		{dir, "80", "HOST:PORT"},
		{dir + "/nothing", "", "make a run first"},
		{dir + "/a/run.json", "", "give the folder"},
		{dir + "/a", "", "give the folder above it, such as " + dir},
	} {
		s, err := New(c.dir, Options{Address: c.address})
		if err == nil {
			s.Stop()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s at %q: %v, want an error about %q", c.dir, c.address, err, c.want)
		}
	}
}

// TestServes is a user's way over a real connection, until Stop.
func TestServes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep(t, dir, "a", sample("a", 1, 50))
	s := serve(t, dir)
	if s.URL() != "" {
		t.Errorf("an address before Start: %q", s.URL())
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err == nil {
		t.Error("it starts twice")
	}
	client := &http.Client{Transport: &http.Transport{}}
	ask := func() (string, error) {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.URL(), nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			return "", err
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		return string(body), err
	}
	page, err := ask()
	if err != nil {
		t.Fatal(err)
	}
	wants(t, page, "1 run.", "lockfree")
	s.Stop()
	s.Stop()
	if _, err := ask(); err == nil {
		t.Error("it answers after Stop")
	}
	client.CloseIdleConnections()
	if err := s.Start(); err == nil {
		t.Error("it starts after Stop")
	}
}
