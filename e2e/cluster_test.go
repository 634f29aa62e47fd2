package e2e

// The server as the tests see it: clients, and what they do to it.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// cluster is a server process with its state, and two ways to it: line is the one
// that informers use and tests disturb; direct is for writers and for comparing.
type cluster struct {
	t            testing.TB
	config       serverConfig
	line, direct *proxy
	etcd         string // URL, of the process of the moment

	process *exec.Cmd
	stop    func() // ends the process and waits for it

	watchSeconds atomic.Int64 // if not 0, the timeout of each watch of the subjects

	dynamic dynamic.Interface   // over direct
	crds    clientset.Interface // over direct
}

// newCluster starts a server with an empty etcd. It ends with the test.
func newCluster(t testing.TB, flags ...string) *cluster {
	t.Helper()
	c := &cluster{t: t, config: serverConfig{Dir: t.TempDir(), Flags: flags}}
	must(t, writeKeys(c.config.Dir))
	c.line, c.direct = newProxy(t), newProxy(t)
	c.start()
	t.Cleanup(func() {
		c.kill()
		if t.Failed() {
			c.logTail()
		}
	})
	c.dynamic = must1(dynamic.NewForConfig(c.restConfig(c.direct)))(t)
	c.crds = must1(clientset.NewForConfig(c.restConfig(c.direct)))(t)
	return c
}

// restConfig is for clients over one of the ways. Clients of one way share one
// connection, as those of one program do.
func (c *cluster) restConfig(way *proxy) *rest.Config {
	// As data: files would be watched for changes by goroutines that never end.
	data := func(name string) []byte {
		return must1(os.ReadFile(filepath.Join(c.config.Dir, name)))(c.t)
	}
	return &rest.Config{
		Host: "https://" + way.address(),
		TLSClientConfig: rest.TLSClientConfig{CAData: data(caFile), CertData: data(clientCertFile),
			KeyData: data(clientKeyFile)},
		QPS: -1,
	}
}

func (c *cluster) lineClients() (dynamic.Interface, metadata.Interface) {
	config := c.restConfig(c.line)
	return must1(dynamic.NewForConfig(config))(c.t), must1(metadata.NewForConfig(config))(c.t)
}

func (c *cluster) logFile() string { return filepath.Join(c.config.Dir, "server.log") }

// start runs a server process over the state in Dir and waits until it is ready.
func (c *cluster) start() {
	c.t.Helper()
	began := time.Now()
	exe := must1(os.Executable())(c.t)
	log := must1(os.OpenFile(c.logFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))(c.t)
	process := exec.Command(exe)
	process.Env = append(os.Environ(), serverEnv+"="+string(must1(json.Marshal(c.config))(c.t)))
	process.Stderr = log
	stdin := must1(process.StdinPipe())(c.t)
	stdout := must1(process.StdoutPipe())(c.t)
	must(c.t, process.Start())
	c.process = process
	c.stop = func() {
		_ = process.Process.Kill()
		_ = process.Wait() // "signal: killed" is what was asked for
		_ = stdin.Close()
		log.Close()
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	var addresses serverAddresses
	if err == nil {
		err = json.Unmarshal(line, &addresses)
	}
	if err != nil {
		c.kill()
		c.logTail()
		c.t.Fatalf("the server process did not start: %v %s", err, line)
	}
	c.etcd = addresses.Etcd
	c.line.retarget(addresses.API)
	c.direct.retarget(addresses.API)
	c.t.Logf("server process %d is ready after %s", process.Process.Pid,
		time.Since(began).Round(time.Millisecond))
}

// kill ends the server process, etcd included, as kill -9 does.
func (c *cluster) kill() {
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
}

// restart kills the server and starts it again on the same state.
func (c *cluster) restart() {
	c.t.Helper()
	c.kill()
	c.start()
}

// compact drops etcd's history: all but the newest state of each object.
func (c *cluster) compact(ctx context.Context) error {
	client, err := clientv3.New(
		clientv3.Config{Endpoints: []string{c.etcd}, DialTimeout: startTimeout})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	newest, err := client.Get(ctx, "/")
	if err != nil {
		return err
	}
	_, err = client.Compact(ctx, newest.Header.Revision, clientv3.WithCompactPhysical())
	return err
}

// metric sums a counter of the server over its labels.
func (c *cluster) metric(ctx context.Context, name string) (float64, error) {
	text, err := c.crds.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte(name))
		if !ok || len(rest) == 0 || (rest[0] != '{' && rest[0] != ' ') {
			continue
		}
		var value float64
		if _, err := fmt.Sscan(string(rest[bytes.LastIndexByte(rest, ' '):]), &value); err != nil {
			return 0, fmt.Errorf("%s: %w", line, err)
		}
		sum += value
	}
	return sum, nil
}

// logTail prints what the server logged last as a warning or an error.
func (c *cluster) logTail() {
	text, err := os.ReadFile(c.logFile())
	var lines [][]byte
	for line := range bytes.Lines(text) {
		// klog's lines of information, such as that a controller starts, explain no failure.
		if line[0] != 'I' {
			lines = append(lines, line)
		}
	}
	const most = 10
	c.t.Logf("the end of the server's log (%v):\n%s", err,
		bytes.Join(lines[max(0, len(lines)-most):], nil))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must1 fails the test on an error, else returns the value.
func must1[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return value
	}
}
