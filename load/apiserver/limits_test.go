package apiserver

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/load/synthetic"
)

// pipes is a listener whose connections are pipes in memory: the server's deadlines then
// follow the clock of a synctest bubble.
type pipes struct {
	accepted chan net.Conn
	once     sync.Once
	closed   chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.accepted <- server
	return client
}

// piped starts a server of widgets on pipes, in a synctest bubble.
func piped(t *testing.T) (widgetsOf *synthetic.Source, dial func() net.Conn) {
	t.Helper()
	p := newPipes()
	f := &fixture{widgets: synthetic.NewSource(nil,
		synthetic.SourceOptions{Example: widget("", "", 0)})}
	s := must[*Server](t)(New(nil, Options{}))
	s.resources[widgets] = must[*resource](t)(newResource(widgets, f.widgets, &s.options))
	s.mu.Lock()
	s.startLocked(p)
	s.mu.Unlock()
	t.Cleanup(func() {
		s.Stop()
		f.widgets.Stop()
	})
	return f.widgets, p.dial
}

const at = "/apis/example.com/v1/namespaces/a/widgets"

// send writes a raw request on a connection.
func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, strings.ReplaceAll(text, "\n", "\r\n")); err != nil {
		t.Fatal(err)
	}
}

// TestSlowClients: a client that never ends a header or a body, or sends nothing, is
// disconnected. A client that watches is not, however long no event comes.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	const host = " HTTP/1.1\nHost: localhost\n"
	for _, c := range []struct {
		name, request string
		after         time.Duration
		status        string // "" for none
	}{
		{"half a header", "GET /version HTTP/1.1\nHost: local", headerTimeout, ""},
		{"no request", "", headerTimeout, ""},
		{"idle after a request", "GET /healthz" + host + "\n", idleTimeout, "200"},
		{"half a body", "POST " + at + host + "Content-Type: application/json\nContent-Length: 10\n\n{",
			bodyTimeout, "408"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, dial := piped(t)
				conn := dial()
				start := time.Now()
				// A server without limits would wait forever; the test waits for an hour of
				// the bubble.
				if err := conn.SetReadDeadline(start.Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
				send(t, conn, c.request)
				answer, err := io.ReadAll(conn)
				if err != nil {
					t.Fatalf("after %v: %v, want the end of the connection", time.Since(start), err)
				}
				if status, _, _ := strings.Cut(strings.TrimPrefix(string(answer), "HTTP/1.1 "),
					" "); status != c.status {
					t.Errorf("answered %q, want %q", answer, c.status)
				}
				if took := time.Since(start); took < c.after || took > c.after+5*time.Second {
					t.Errorf("disconnected after %v, want %v", took, c.after)
				}
			})
		})
	}
	t.Run("a watch", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			source, dial := piped(t)
			conn := dial()
			send(t, conn, "GET "+at+"?watch=1&resourceVersion=1"+host+"\n")
			reader := bufio.NewReader(conn)
			response, err := http.ReadResponse(reader, nil) //nolint:bodyclose // the connection ends with the server
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(24 * time.Hour)
			must[runtime.Object](t)(source.Create(widget("a", "w", 1)))
			line, err := bufio.NewReader(response.Body).ReadString('\n')
			if err != nil || !strings.Contains(line, `"ADDED"`) {
				t.Errorf("after a day without events: %q, %v", line, err)
			}
			_ = conn.Close()
		})
	})
}

// TestUnreadAnswer: a client that asks for a list and does not read it is disconnected.
func TestUnreadAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source, dial := piped(t)
		large := widget("a", "w", 1)
		large.SetAnnotations(map[string]string{"a": strings.Repeat("x", 200<<10)})
		must[runtime.Object](t)(source.Create(large))
		conn := dial()
		if err := conn.SetReadDeadline(time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		send(t, conn, "GET "+at+" HTTP/1.1\nHost: localhost\n\n")
		time.Sleep(writeTimeout + 5*time.Second)
		start := time.Now()
		answer, err := io.ReadAll(conn)
		if err != nil || len(answer) > 100<<10 || time.Since(start) > time.Second {
			t.Errorf("%d bytes in %v, %v: want the end of the connection", len(answer), time.Since(start),
				err)
		}
		// A slow client that does read gets the whole answer.
		conn = dial()
		send(t, conn, "GET "+at+" HTTP/1.1\nHost: localhost\nConnection: close\n\n")
		total := 0
		for buffer := make([]byte, 16<<10); ; {
			n, err := conn.Read(buffer)
			total += n
			if err != nil {
				break
			}
			time.Sleep(2 * time.Second)
		}
		if total < 200<<10 {
			t.Errorf("a slow client got %d bytes of 200 KiB", total)
		}
	})
}

// TestInFlight: a request above the limit gets 429 with Retry-After. Reads and writes have
// separate limits, and watches do not count.
func TestInFlight(t *testing.T) {
	t.Parallel()
	f := start(t, nil, Options{MaxInFlight: 2, MaxMutatingInFlight: 1},
		synthetic.SourceOptions{FreshWait: time.Hour})
	get := func() answer { return request(t, "GET", f.URL()+"/version", "") }
	post := func() answer {
		return request(t, "POST", f.URL()+"/api/v1/namespaces/a/pods",
			`{"metadata":{"generateName":"p-"}}`, "Content-Type", runtime.ContentTypeJSON)
	}
	full := func(got answer) bool {
		if got.code != http.StatusTooManyRequests {
			return false
		}
		if got.header.Get("Retry-After") != "1" ||
			!strings.Contains(string(got.body), `"reason":"TooManyRequests"`) {
			t.Errorf("429 with %v and %s, want Retry-After and a Status", got.header, got.body)
		}
		return true
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	var held sync.WaitGroup
	hold := func(method, path string, body io.Reader) {
		req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), method, f.URL()+path, body))
		req.Header.Set("Content-Type", runtime.ContentTypeJSON)
		held.Go(func() {
			if res, err := transport.RoundTrip(req); err == nil {
				_, _ = io.Copy(io.Discard, res.Body) // until the server stops
				_ = res.Body.Close()
			}
		})
	}
	// Lists of a future version wait for it.
	for range 2 {
		hold("GET", "/api/v1/pods?resourceVersion=1000", nil)
	}
	eventually(t, "two reads", func() bool { return len(f.inFlight.reads) == 2 })
	if got := get(); !full(got) {
		t.Errorf("a third read: %d %s, want 429", got.code, got.body)
	}
	if got := post(); got.code != http.StatusCreated {
		t.Errorf("a write while the reads are many: %d %s, want 201", got.code, got.body)
	}
	for range 5 {
		hold("GET", "/api/v1/pods?watch=true", nil)
	}
	eventually(t, "five watches", func() bool { return f.Stats().Watches == 5 })
	eventually(t, "the end of the write", func() bool { return len(f.inFlight.writes) == 0 })
	body, more := io.Pipe()
	hold("POST", "/api/v1/namespaces/a/pods", body)
	eventually(t, "a write", func() bool { return len(f.inFlight.writes) == 1 })
	if got := post(); !full(got) {
		t.Errorf("a second write: %d %s, want 429", got.code, got.body)
	}
	if got := request(t, "DELETE", f.URL()+"/api/v1/nodes/node-00000", ""); !full(got) {
		t.Errorf("another write: %d %s, want 429", got.code, got.body)
	}
	_ = more.Close() // the body is over, and no object
	eventually(t, "a place for a write", func() bool { return post().code == http.StatusCreated })
	if got := get(); !full(got) {
		t.Errorf("a read, still: %d, want 429", got.code)
	}
	f.Stop()
	held.Wait()
}

// TestNoLimit: a negative number means no limit of requests.
func TestNoLimit(t *testing.T) {
	t.Parallel()
	f := newInFlight(&Options{MaxInFlight: -1, MaxMutatingInFlight: -1})
	for range 10 * DefaultMaxInFlight {
		for _, method := range []string{"GET", "POST"} {
			if _, err := f.enter(method); err != nil {
				t.Fatal(err)
			}
		}
	}
	f = newInFlight(&Options{})
	for n := range DefaultMaxInFlight + 1 {
		if _, err := f.enter("GET"); (err != nil) != (n == DefaultMaxInFlight) {
			t.Fatalf("read %d: %v", n, err)
		}
	}
}

// fragile is a clock that can be broken; it then panics when asked for the time.
type fragile struct {
	clock.Clock
	broken atomic.Bool
}

func (f *fragile) Now() time.Time {
	if f.broken.Load() {
		panic(errors.New("the clock\nis broken"))
	}
	return f.Clock.Now()
}

// TestPanic: the client gets 500 and the log the stack; the server continues.
func TestPanic(t *testing.T) {
	t.Parallel()
	var logged serverLog
	c := &fragile{Clock: clock.RealClock{}}
	f := start(t, nil, Options{Clock: c, ErrorLog: logged.logger()}, synthetic.SourceOptions{})
	c.broken.Store(true)
	if got := request(t, "GET", f.URL()+"/api/v1/pods", ""); got.code != 200 || logged.String() != "" {
		t.Errorf("before: %d %s, logged %q", got.code, got.body, logged.String())
	}
	req := must[*http.Request](t)(
		http.NewRequestWithContext(within(t), http.MethodPost, f.URL()+"/api/v1/namespaces/a/pods",
			strings.NewReader(`{"metadata":{"name":"p"}}`)))
	req.Header.Set("Content-Type", runtime.ContentTypeJSON)
	if code, status := ask(t, req); code != 500 || status.Reason != metav1.StatusReasonInternalError ||
		status.APIVersion != "v1" {
		t.Errorf("%d %+v, want 500 with a Status", code, status)
	}
	for _, want := range []string{`panic in POST "/api/v1/namespaces/a/pods"`,
		`"the clock\nis broken"`, "(*Server).create("} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("the log does not say %s:\n%s", want, logged.String())
		}
	}
	if got := request(t, "GET", f.URL()+"/api/v1/pods", ""); got.code != 200 {
		t.Errorf("after: %d %s", got.code, got.body)
	}
}

// TestAbortIsNoPanic: a connection that is cut on purpose is not logged.
func TestAbortIsNoPanic(t *testing.T) {
	t.Parallel()
	var logged serverLog
	f := start(t, nil, Options{Faults: []synthetic.Fault{{Kind: FaultReset}},
		ErrorLog: logged.logger()}, synthetic.SourceOptions{})
	req := must[*http.Request](t)(
		http.NewRequestWithContext(within(t), http.MethodGet, f.URL()+"/api/v1/pods", nil))
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	if res, err := transport.RoundTrip(req); err == nil {
		_ = res.Body.Close()
		t.Errorf("%s, want a reset", res.Status)
	}
	f.Stop()
	if logged.String() != "" {
		t.Errorf("logged %s", logged.String())
	}
}
