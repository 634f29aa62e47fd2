package apiserver

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/synthetic"
)

func newPipes() *pipes {
	return &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
}

func (p *pipes) dialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.accepted <- server:
		return client, nil
	case <-p.closed:
	case <-ctx.Done():
	}
	return nil, net.ErrClosed
}

// filtered is a response body. Each line goes through pass, which may change it, hold it back, or
// end the body.
type filtered struct {
	io.Closer
	lines *bufio.Reader
	pass  func(line []byte) ([]byte, error)
	rest  []byte
}

func (f *filtered) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		line, err := f.lines.ReadBytes('\n')
		if err != nil {
			return 0, err
		}
		if f.rest, err = f.pass(line); err != nil {
			return 0, err
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// syncedBehind runs an informer of n pods behind a reverse proxy, whose streaming lists go through
// pass. It returns how long the informer took to sync, and how often it has listed.
func syncedBehind(t *testing.T, n int,
	pass func(ctx context.Context, line []byte) ([]byte, error)) (took time.Duration, lists int64) {
	pods := synthetic.NewSource(somePods(n), synthetic.SourceOptions{})
	defer pods.Stop()
	s := must[*Server](t)(New(
		map[schema.GroupVersionResource]*synthetic.Source{Pods: pods}, Options{}))
	behind, before := newPipes(), newPipes()
	s.mu.Lock()
	s.startLocked(behind)
	s.mu.Unlock()
	defer s.Stop()

	var listed atomic.Int64
	transport := &http.Transport{DialContext: behind.dialContext}
	defer transport.CloseIdleConnections()
	proxy := httputil.NewSingleHostReverseProxy(must[*url.URL](t)(url.Parse("http://127.0.0.1:1")))
	proxy.Transport, proxy.ErrorLog = transport, log.New(io.Discard, "", 0)
	proxy.ModifyResponse = func(a *http.Response) error {
		if query := a.Request.URL.Query(); query.Get("sendInitialEvents") == "true" {
			ctx := a.Request.Context()
			a.Body = &filtered{Closer: a.Body, lines: bufio.NewReader(a.Body),
				pass: func(line []byte) ([]byte, error) { return pass(ctx, line) }}
		} else if query.Get("watch") == "" {
			listed.Add(1)
		}
		return nil
	}
	front := &http.Server{Handler: proxy, ErrorLog: proxy.ErrorLog}
	var serving sync.WaitGroup
	serving.Go(func() { _ = front.Serve(before) })
	defer serving.Wait()
	defer func() { _ = front.Close() }()

	config := &rest.Config{Host: "http://127.0.0.1:1", Dial: before.dialContext, QPS: -1}
	config.ContentType = runtime.ContentTypeJSON
	h := must[*http.Client](t)(rest.HTTPClientFor(config))
	defer h.CloseIdleConnections()
	client := must[*kubernetes.Clientset](t)(kubernetes.NewForConfigAndClient(config, h))
	inf := informer.NewSharedIndexInformer(
		cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "", fields.Everything()),
		&corev1.Pod{}, 0, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	began := time.Now()
	running.Go(func() { inf.RunWithContext(ctx) })
	defer running.Wait()
	defer cancel()
	if !cache.WaitForCacheSync(ctx.Done(), inf.HasSynced) || len(inf.GetStore().ListKeys()) != n {
		t.Errorf("%d of %d pods", len(inf.GetStore().ListKeys()), n)
	}
	return time.Since(began), listed.Load()
}

func stall(ctx context.Context) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Where a proxy or a server keeps back the bookmark that ends a streaming list, an informer lists
// within 15 seconds.
func TestStreamsThatLoseTheirEnd(t *testing.T) {
	t.Parallel()
	const pods = 20
	for name, pass := range map[string]func(ctx context.Context, line []byte) ([]byte, error){
		"the proxy strips the bookmark": func(_ context.Context, line []byte) ([]byte, error) {
			if bytes.Contains(line, []byte(metav1.InitialEventsAnnotationKey)) {
				return nil, nil
			}
			return line, nil
		},
		"the proxy strips the annotation": func(_ context.Context, line []byte) ([]byte, error) {
			return bytes.Replace(line, []byte(metav1.InitialEventsAnnotationKey), []byte("x"), 1), nil
		},
		"the server stalls at once": func(ctx context.Context, _ []byte) ([]byte, error) {
			return stall(ctx)
		},
		"the server stalls half-way": func(ctx context.Context, line []byte) ([]byte, error) {
			if bytes.Contains(line, []byte(`"pod-000010"`)) {
				return stall(ctx)
			}
			return line, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if took, lists := syncedBehind(t, pods, pass); took > 15*time.Second || lists != 1 {
					t.Errorf("synced after %s and %d lists", took, lists)
				}
			})
		})
	}
}

// A streaming list that is slow, but goes on, is not given up.
func TestSlowStreamsKeepTheirEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const pods, at = 10_000, 400
		events := 0
		took, lists := syncedBehind(t, pods, func(_ context.Context, line []byte) ([]byte, error) {
			if events++; events%at == 0 {
				time.Sleep(9 * time.Second) // of the bubble
			}
			return line, nil
		})
		if took < pods/at*9*time.Second || lists != 0 {
			t.Errorf("synced after %s and %d lists", took, lists)
		}
	})
}
