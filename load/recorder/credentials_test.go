package recorder

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
)

// withCredentials is the URL of a server with a user name and a password.
func withCredentials(host string) string {
	return strings.Replace(host, "://", "://adm1n:s3cret@", 1)
}

func clean(t *testing.T, what, text string) {
	t.Helper()
	for _, secret := range []string{"s3cret", "adm1n"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s has the credentials of the URL: %s", what, text)
		}
	}
}

// The trace names the server without the password.
func TestTraceHasNoCredentials(t *testing.T) {
	t.Parallel()
	s := serve(t, apiserver.Options{}, synthetic.SourceOptions{}, pod("one", 1))
	config := rest.CopyConfig(s.config)
	config.Host = withCredentials(config.Host)
	c, err := ConnectTo(config, "default")
	if err != nil {
		t.Fatal(err)
	}
	clean(t, "Cluster.Host", c.Host)
	for _, redact := range []bool{false, true} {
		var out, text bytes.Buffer
		if _, err := c.Record(t.Context(), &out,
			Options{Resources: s.resolve(t, "pods"), For: time.Millisecond, Redact: redact}); err != nil {
			t.Fatal(err)
		}
		if err := load.CatTrace(&text, "t", &out); err != nil {
			t.Fatal(err)
		}
		clean(t, fmt.Sprintf("the trace (redact %v)", redact), text.String())
		if host := strings.TrimPrefix(s.config.Host, "https://"); !strings.Contains(text.String(),
			strings.TrimPrefix(host, "http://")) {
			t.Errorf("the trace does not say where it comes from: %.200s", text.String())
		}
	}
}

// No error contains them either: of a server that refuses, of one that is down, or of a URL
// that cannot be parsed.
func TestErrorsHaveNoCredentials(t *testing.T) {
	t.Parallel()
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "what is "+r.Host, http.StatusInternalServerError)
	}))
	defer refuses.Close()
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	moves := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://adm1n:s3cret@127.0.0.1:1/", http.StatusFound)
	}))
	defer moves.Close()
	for _, host := range []string{refuses.URL, empty.URL, moves.URL, "http://127.0.0.1:1"} {
		c, err := ConnectTo(&rest.Config{Host: withCredentials(host)}, "default")
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Resolve(t.Context(), []string{"pods"})
		if err == nil {
			t.Fatalf("%s: resolved", host)
		}
		clean(t, "Resolve", err.Error())
		o := Options{Resources: []load.TraceResource{
			{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}}, For: time.Second}
		if err = c.Probe(t.Context(), o); err == nil {
			t.Fatalf("%s: probed", host)
		}
		clean(t, "Probe", err.Error())
		if _, err = c.File(t.Context(), filepath.Join(t.TempDir(), "x"), o); err == nil {
			t.Fatalf("%s: recorded", host)
		}
		clean(t, "File", err.Error())
	}
	for _, server := range []string{
		"https://adm1n:s3cret%zz@host", "https://adm1n:s3cret@host:port",
		"https://adm1n:s3cret word@host", "https://adm1n:s3cret/slash@host",
		"https://adm1n:1234/s3cret@host", "https://adm1n/s3cret@host",
		"https://adm1n:s3cret\\\"quote@host:port", "://adm1n:s3cret@host", "adm1n:s3cret@host:port",
		"https://adm1n:s3cret@[::1",
	} {
		for _, field := range []string{"server: %s", "server: https://127.0.0.1:1, proxy-url: %s"} {
			cluster := fmt.Sprintf(field, "'"+server+"'")
			path := filepath.Join(t.TempDir(), "kubeconfig")
			text := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {" + cluster +
				"}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n"
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := Connect(path, "")
			if err == nil {
				_, err = c.Resolve(t.Context(), []string{"pods"})
			}
			if err == nil {
				t.Fatalf("%s: no error", cluster)
			}
			clean(t, cluster, err.Error())
		}
	}
}

// Only the text is hidden: errors.Is still finds the cause.
func TestHiddenErrorKeepsItsCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial https://adm1n:s3cret@host")
	c := &Cluster{}
	if err := c.hide(fmt.Errorf("list: %w", cause)); !errors.Is(err, cause) ||
		err.Error() != "list: dial https://host" {
		t.Errorf("got %v", err)
	}
	if err := c.hide(nil); err != nil {
		t.Errorf("nil became %v", err)
	}
}
