package web

import (
	"bytes"
	"log"
	"net/http"
	"strings"
	"testing"
)

// TestWhoIsAnswered: programs and pages of this machine are; a page that reaches the server by
// a name of its own, or from elsewhere in the background, is not.
func TestWhoIsAnswered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep(t, dir, "a", sample("a", 1, 50))
	s := serve(t, dir)
	for _, c := range []struct {
		headers []string
		refused bool
	}{
		{nil, false},
		{[]string{"Host", "localhost:8080"}, false},
		{[]string{"Host", "[::1]:8080"}, false},
		{[]string{"Host", "evil.example"}, true},
		{[]string{"Host", "127.0.0.1.evil.example:80"}, true},
		{[]string{"Host", ""}, true},
		{[]string{"Origin", "http://127.0.0.1:80"}, false},
		{[]string{"Origin", "https://evil.example"}, true},
		{[]string{"Origin", "null"}, true},
		{[]string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, false},
		{[]string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "style"}, false},
		{[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, false},
		{[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, true},
		{[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"}, true},
		{[]string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}, true},
		{[]string{"Sec-Fetch-Site", "cross-site"}, true},
	} {
		for _, path := range []string{"/", "/runs/a/", "/runs/a/report", "/runs/a/files/run.json", "/style.css", "/compare?base=a&head=a", "/no/such/page"} {
			code, body := get(t, s, path, c.headers...)
			if (code == http.StatusForbidden) != c.refused {
				t.Errorf("%s with %q: %d, refused: want %v", path, c.headers, code, c.refused)
			}
			if c.refused && strings.Contains(body, "lockfree") {
				t.Errorf("%s with %q: the refusal has a run in it", path, c.headers)
			}
		}
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	for _, c := range []struct {
		method string
		want   int
	}{{"GET", 200}, {"HEAD", 200}, {"POST", 405}, {"PUT", 405}, {"DELETE", 405}, {"OPTIONS", 405}, {"TRACE", 405}, {"CONNECT", 405}} {
		res := answer(s, c.method, "/")
		_ = res.Body.Close()
		if res.StatusCode != c.want || (c.want == 405) != (res.Header.Get("Allow") == "GET, HEAD") {
			t.Errorf("%s: %s, Allow %q; want %d", c.method, res.Status, res.Header.Get("Allow"), c.want)
		}
	}
}

// TestPolicies: every answer says what its page may do. Only pages that need scripts within
// them may have some, and those are in a sandbox.
func TestPolicies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, cell := withProfiles(t, dir)
	write(t, dir, "head/report.html", []byte("<script>alert(1)</script>"))
	s := serve(t, dir)
	for path, policy := range map[string]string{
		"/": ownPolicy, "/runs/base/": ownPolicy, "/runs/base/files/run.json": ownPolicy, "/compare?base=base&head=head": reportPolicy, "/profiles?base=base&head=head": ownPolicy,
		"/style.css": ownPolicy, "/script.js": ownPolicy, "/nothing": ownPolicy, "/compare": ownPolicy, "/runs/nothing/report": ownPolicy,
		"/runs/base/report": reportPolicy, "/runs/head/report": reportPolicy,
		pprofPath("base", cell, "cpu"): pprofPolicy, diffPath("head", cell, "cpu", "base", cell): pprofPolicy,
		segments("pprof", "base", cell, "cpu") + "source": ownPolicy, pprofPath("base", cell, "heap"): ownPolicy,
	} {
		res := answer(s, "GET", path)
		_ = res.Body.Close()
		for header, want := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got := res.Header.Get(header); got != want {
				t.Errorf("%s (%s): %s is %q, want %q", path, res.Status, header, got, want)
			}
		}
		if res.Header.Get("Content-Type") == "" {
			t.Errorf("%s: no content type: the browser would guess", path)
		}
	}
	for _, policy := range []string{reportPolicy, pprofPolicy} {
		if !strings.Contains(policy, "; sandbox") || strings.Contains(policy, "allow-same-origin") || !strings.HasPrefix(policy, "default-src 'none';") {
			t.Errorf("the policy %q lets scripts of a run act for the server", policy)
		}
	}
	if strings.Contains(ownPolicy, "unsafe") {
		t.Errorf("own pages run scripts within them: %q", ownPolicy)
	}
}

func TestRequestsInFlight(t *testing.T) {
	t.Parallel()
	s, err := New(t.TempDir(), Options{MaxInFlight: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	entered, leave := make(chan struct{}), make(chan struct{})
	s.mux = http.NewServeMux()
	s.mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) { entered <- struct{}{}; <-leave })
	done := make(chan struct{})
	go func() {
		defer close(done)
		res := answer(s, "GET", "/")
		_ = res.Body.Close()
	}()
	<-entered
	res := answer(s, "GET", "/")
	_ = res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Errorf("beside another: %s, Retry-After %q; want 503", res.Status, res.Header.Get("Retry-After"))
	}
	close(leave)
	<-done
}

func TestPanics(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	s, err := New(t.TempDir(), Options{MaxInFlight: 1, ErrorLog: log.New(&logged, "", 0)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	s.mux = http.NewServeMux()
	s.mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) { panic("the\nreason") })
	for range 2 { // the slot was freed
		if code, body := get(t, s, "/%0a"); code != 500 || strings.Contains(body, "the\nreason") {
			t.Errorf("%d %q, want 500 without details", code, body)
		}
	}
	if text := logged.String(); !strings.Contains(text, `"the\nreason"`) || !strings.Contains(text, "guard_test.go") {
		t.Errorf("the log has no quoted reason with its stack: %s", text)
	}
}
