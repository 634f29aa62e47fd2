package apiserver

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informerbench/informerbench/load/synthetic"
)

// FuzzRequests checks that no request makes a handler panic or is answered 500. The seeds
// are the requests of parityCases, for custom resources and for pods.
func FuzzRequests(f *testing.F) {
	for _, c := range parityCases() {
		for _, s := range c.Steps {
			if len(s.Body) > 10_000 {
				continue // seeds are there to be varied
			}
			method, path, _ := strings.Cut(strings.ReplaceAll(s.Do, "$ns", "a"), " ")
			if s.Type == "" {
				s.Type = runtime.ContentTypeJSON
			}
			body := strings.ReplaceAll(s.Body, "$ns", "a")
			f.Add(method, "/apis/example.com/v1/"+path, s.Type, body)
			f.Add(method, "/api/v1/"+strings.ReplaceAll(path, "widgets", "pods"), s.Type,
				strings.NewReplacer("example.com/v1", "v1", "Widget", "Pod").Replace(body))
		}
	}
	var logged serverLog
	widgetsOf := synthetic.NewSource(nil,
		synthetic.SourceOptions{Example: widget("", "", 0), SelectableFields: []string{"spec.color"}})
	pods := synthetic.NewSource([]runtime.Object{smallPod("a", "w")},
		synthetic.SourceOptions{FreshWait: time.Millisecond})
	s, err := New(map[schema.GroupVersionResource]*synthetic.Source{widgets: widgetsOf, Pods: pods},
		Options{ErrorLog: logged.logger()})
	if err != nil {
		f.Fatal(err)
	}
	if err := s.Start(); err != nil {
		f.Fatal(err)
	}
	transport := &http.Transport{}
	f.Cleanup(func() {
		transport.CloseIdleConnections()
		s.Stop()
		widgetsOf.Stop()
		pods.Stop()
	})
	f.Fuzz(func(t *testing.T, method, path, contentType, body string) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // a watch may go on
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, method, s.URL()+path, strings.NewReader(body))
		if err != nil || req.URL.Host != strings.TrimPrefix(s.URL(), "http://") {
			t.Skip("not a request to this server")
		}
		req.Header.Set("Content-Type", contentType)
		res, err := transport.RoundTrip(req)
		if err == nil {
			answer, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if res.StatusCode == http.StatusInternalServerError {
				t.Errorf("%s %s: %s", method, path, answer)
			}
		}
		if text := logged.String(); text != "" {
			t.Errorf("%s %s: %s", method, path, text)
		}
	})
}
