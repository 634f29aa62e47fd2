package apiserver

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/load/synthetic"
)

// TestPagesInABrowser checks that a web page can neither read through a name that resolves
// to this server (DNS rebinding) nor write from its own origin, whatever the path. Clients
// on this machine can do both.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		f := start(t, nil, Options{TLS: secure, Token: "secret"}, synthetic.SourceOptions{})
		client := must[*http.Client](t)(newHTTPClient(t, f.RESTConfig()))
		_, port, _ := strings.Cut(strings.TrimPrefix(f.URL(), "https"), "1:")
		for _, c := range []struct {
			host, origin string
			refused      bool
		}{
			{"", "", false},
			{"localhost", "", false},
			{"LocalHost:" + port, "", false},
			{"127.0.0.1", "", false},
			{"127.9.8.7:1", "", false},
			{"[::1]", "", false},
			{"[::1]:80", "", false},
			{"evil.example", "", true},
			{"evil.example:" + port, "", true},
			{"localhost.evil.example", "", true},
			{"127.0.0.1.evil.example", "", true},
			{"10.0.0.1:" + port, "", true},
			{"0.0.0.0:" + port, "", true},
			{"[fe80::1]:" + port, "", true},
			{"", f.URL(), false},
			{"", "http://localhost:3000", false},
			{"", "http://[::1]:3000", false},
			{"", "https://evil.example", true},
			{"", "https://localhost.evil.example", true},
			{"", "https://localhost@evil.example", true},
			{"", "null", true},
			{"", "file://", true},
			{"", "%", true},
			{"evil.example", "http://localhost", true},
		} {
			for _, r := range []struct{ method, path, body string }{
				{"GET", "/api/v1/pods", ""},
				{"GET", "/version", ""},
				{"GET", "/api/v1/pods?watch=1&timeoutSeconds=-1", ""},
				{"POST", "/api/v1/namespaces/a/pods", `{"metadata":{"generateName":"p-"}}`},
			} {
				req := must[*http.Request](t)(
					http.NewRequestWithContext(within(t), r.method, f.URL()+r.path, strings.NewReader(r.body)))
				req.Host = c.host
				if c.origin != "" {
					req.Header.Set("Origin", c.origin)
				}
				req.Header.Set("Content-Type", runtime.ContentTypeJSON)
				before := f.pods.ResourceVersion()
				res := must[*http.Response](t)(client.Do(req)) //nolint:bodyclose // it is closed below
				_ = res.Body.Close()
				if (res.StatusCode == http.StatusForbidden) != c.refused ||
					(res.StatusCode >= 400) != c.refused {
					t.Errorf("TLS %v, Host %q, Origin %q: %s %s: %s, refused: want %v", secure, c.host, c.origin,
						r.method, r.path, res.Status, c.refused)
				}
				if c.refused && f.pods.ResourceVersion() != before {
					t.Errorf("Host %q, Origin %q: %s %s has written", c.host, c.origin, r.method, r.path)
				}
			}
		}
	}
}

// TestPagesAreTold checks that a page gets the reason as a Status, before its token is
// checked.
func TestPagesAreTold(t *testing.T) {
	t.Parallel()
	f := start(t, nil, Options{Token: "secret"}, synthetic.SourceOptions{})
	for _, header := range []string{"Host", "Origin"} {
		req := must[*http.Request](t)(
			http.NewRequestWithContext(within(t), http.MethodGet, f.URL()+"/api/v1/pods", nil))
		if header == "Host" {
			req.Host = "evil.example"
		} else {
			req.Header.Set(header, "http://evil.example")
		}
		code, status := ask(t, req)
		if code != 403 || status.Reason != metav1.StatusReasonForbidden || status.Code != 403 ||
			!strings.Contains(status.Message, "evil.example") ||
			!strings.Contains(status.Message, "localhost") {
			t.Errorf("%s: %d %+v, want 403 that names both hosts", header, code, status)
		}
	}
}

// TestBodiesWithoutType: a browser sends a body without a type, or with one of three types,
// for any page and without a preflight request. Such a body is not read as JSON.
func TestBodiesWithoutType(t *testing.T) {
	t.Parallel()
	f := start(t, []runtime.Object{smallPod("a", "p")}, Options{}, synthetic.SourceOptions{})
	before := f.pods.ResourceVersion()
	const collection = "/api/v1/namespaces/a/pods"
	for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded",
		"multipart/form-data; boundary=x", ";"} {
		for _, r := range []struct{ method, path, body string }{
			{"POST", collection, `{"metadata":{"name":"q"}}`},
			{"PUT", collection + "/p", `{"metadata":{"name":"p","labels":{"a":"b"}}}`},
			{"PATCH", collection + "/p", `{"metadata":{"labels":{"a":"b"}}}`},
			{"DELETE", collection + "/p", `{}`},
			{"DELETE", collection, `{}`},
		} {
			var headers []string
			if contentType != "" {
				headers = []string{"Content-Type", contentType}
			}
			got := request(t, r.method, f.URL()+r.path, r.body, headers...)
			if got.code != http.StatusUnsupportedMediaType ||
				!strings.Contains(string(got.body), `"reason":"UnsupportedMediaType"`) {
				t.Errorf("%s of type %q: %d %s, want 415", r.method, contentType, got.code, got.body)
			}
		}
	}
	if f.pods.ResourceVersion() != before {
		t.Error("something was written")
	}
	if got := request(t, "DELETE", f.URL()+collection+"/p", ""); got.code != 200 {
		t.Errorf("DELETE without a body: %d %s, want 200", got.code, got.body)
	}
}
