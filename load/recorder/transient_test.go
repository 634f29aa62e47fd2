package recorder

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
)

// failing fails the first requests of each path below one, of watches and of other requests.
type failing struct {
	http.RoundTripper
	below  string
	status int // 0 resets the connection
	times  int
	mu     *sync.Mutex
	failed map[string]int
}

func (f failing) RoundTrip(req *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	what := req.URL.Path + " watch=" + req.URL.Query().Get("watch")
	if f.failed[what]++; f.failed[what] > f.times || !strings.HasPrefix(what, f.below) {
		return f.RoundTripper.RoundTrip(req)
	}
	if f.status == 0 {
		return nil, syscall.ECONNRESET
	}
	w := httptest.NewRecorder()
	w.WriteHeader(f.status)
	return w.Result(), nil
}

// A recording begins though the first tries of each request fail in a way that passes: of
// discovery, its groups, the probe and the first list.
func TestTransientErrorsAtTheBeginning(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"500": http.StatusInternalServerError,
		"429": http.StatusTooManyRequests, "reset": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, apiserver.Options{}, synthetic.SourceOptions{}, pod("one", 1))
			connect := func(times int, below string) {
				config := rest.CopyConfig(s.config)
				f := failing{below: below, status: status, times: times, mu: &sync.Mutex{},
					failed: map[string]int{}}
				config.Wrap(func(next http.RoundTripper) http.RoundTripper {
					f.RoundTripper = next
					return f
				})
				s.Cluster = must[*Cluster](t)(ConnectTo(config, "default"))
			}
			connect(1, "/api") // a try asks for several paths, one after the other
			s.resolve(t, "pods", "deployments")
			times := firstTries - 1
			if status == 0 {
				times = 1 // client-go tries again by itself, after a second
			}
			connect(times, "/api/v1")
			o := Options{Resources: s.resolve(t, "pods"), For: time.Hour}
			if err := s.Probe(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			connect(times, "/api/v1")
			trace, _ := s.until(t, o, nil, func(Progress) bool { return true })
			if len(trace.Initial) != 1 {
				t.Errorf("%d initial objects, want 1", len(trace.Initial))
			}
		})
	}
}
