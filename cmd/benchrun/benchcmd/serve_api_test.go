package benchcmd

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// TestServeAPI is a user's way: serve, take the kubeconfig, talk to it, Ctrl-C.
func TestServeAPI(t *testing.T) {
	t.Parallel()
	trace := write(t, "t.trace", aTrace(t))
	for _, c := range []struct {
		name        string
		args        []string
		pods, nodes int  // in the end
		writes      bool // for ever
	}{
		{"plain", []string{"--pods", "20", "--nodes", "4"}, 20, 4, false},
		{"rate", []string{"--pods", "20", "--rate", "500", "--tls", "--token", "secret"}, 20, 1, true},
		{"limits", []string{"--pods", "20", "--nodes", "4", "--max-requests-inflight", "1",
			"--max-mutating-requests-inflight", "0"}, 20, 4, false},
		{"preset", []string{"--preset", "lock-starvation", "--pods", "90", "--faults", "1"}, 90, 3, true},
		{"trace", []string{"--trace", trace, "--compress", "10"}, 500, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "kubeconfig")
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			r, w := io.Pipe()
			code := make(chan int, 1)
			var errOut strings.Builder
			go func() {
				code <- execute(ctx, append([]string{"serve-api", "--kubeconfig-out", file}, c.args...),
					strings.NewReader(""), w, &errOut)
				_ = w.Close()
			}()
			line := make([]byte, 1024)
			n, err := r.Read(line)
			if err != nil {
				t.Fatalf("%v: %s", err, errOut.String())
			}
			go func() { _, _ = io.Copy(io.Discard, r) }()
			if got := string(line[:n]); got != "kubeconfig "+file+"\n" {
				t.Errorf("it printed %q", got)
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the kubeconfig: %v, %v; want it for its owner alone", info, err)
			}
			converse(t, file, c.pods, c.nodes, c.writes)
			interrupt()
			if got := <-code; got != 0 {
				t.Errorf("exit code %d after Ctrl-C, want 0: %s", got, errOut.String())
			}
			if !strings.Contains(errOut.String(), "requests") {
				t.Errorf("no counts: %s", errOut.String())
			}
		})
	}
}

func converse(t *testing.T, kubeconfig string, pods, nodes int, writes bool) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var list *corev1.PodList
	first := ""
	for {
		// Faults are part of it: ask until an answer comes.
		if list, err = client.CoreV1().Pods("").List(ctx, metav1.ListOptions{}); err == nil {
			if first == "" {
				first = list.ResourceVersion
			}
			if len(list.Items) == pods && (!writes || list.ResourceVersion != first) {
				break
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("after a minute still not %d pods, written to: %v; the last error: %v", pods, writes,
				err)
		}
	}
	for {
		l, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err == nil && len(l.Items) != nodes {
			t.Errorf("%d nodes, want %d", len(l.Items), nodes)
		}
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

// TestServeAPIEnds by itself, and prints the kubeconfig where no file is named.
func TestServeAPIEnds(t *testing.T) {
	t.Parallel()
	code, out, errOut := benchrun(t, "serve-api", "--pods", "3", "--for", "1ms")
	if code != 0 || !strings.Contains(out, "kind: Config") ||
		!strings.Contains(errOut, "serving 1 nodes and 3 pods at http://127.0.0.1:") {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
}

// Bad input: a clear error, exit code 2 and nothing written.
func TestServeAPIBadInput(t *testing.T) {
	trace := aTrace(t)
	whole, cut := write(t, "whole.trace", trace), write(t, "cut.trace", trace[:len(trace)/2])
	exists := write(t, "mine", "keep")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }() // nothing was written to it
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"unknown preset", []string{"--preset", "fast"}, []string{`"fast"`, "lock-starvation"}},
		{"preset without writers", []string{"--preset", "delay-million"},
			[]string{`"delay-million"`, "writers", "lock-starvation"}},
		{"preset and trace", []string{"--preset", "quick", "--trace", whole},
			[]string{"--preset", "--trace"}},
		{"trace missing", []string{"--trace", "nowhere.trace"}, []string{"nowhere.trace"}},
		{"truncated trace", []string{"--trace", cut}, []string{"cut.trace", "end is missing"}},
		{"pods of a trace", []string{"--trace", whole, "--pods", "3"}, []string{"--pods"}},
		{"rate of a trace", []string{"--trace", whole, "--rate", "3"}, []string{"--rate", "--compress"}},
		{"compress without trace", []string{"--compress", "3"}, []string{"--compress", "--trace"}},
		{"compress by nothing", []string{"--trace", whole, "--compress", "0"},
			[]string{"--compress", "above 0"}},
		{"compress by no number", []string{"--trace", whole, "--compress", "NaN"},
			[]string{"--compress", "above 0"}},
		{"no pods", []string{"--pods", "0"}, []string{"--pods", "1 to"}},
		{"fewer than no pods", []string{"--pods", "-1"}, []string{"--pods", "1 to"}},
		{"no nodes", []string{"--nodes", "0"}, []string{"--nodes", "1 to"}},
		{"negative rate", []string{"--rate", "-1"}, []string{"--rate -1"}},
		{"no number", []string{"--rate", "NaN"}, []string{"--rate NaN"}},
		{"negative reads", []string{"--max-requests-inflight", "-1"},
			[]string{"--max-requests-inflight -1", "0 for no limit"}},
		{"negative writes", []string{"--max-mutating-requests-inflight", "-1"},
			[]string{"--max-mutating-requests-inflight -1"}},
		{"negative time", []string{"--for", "-1s"}, []string{"--for"}},
		{"every interface", []string{"--addr", "0.0.0.0:8080", "--kubeconfig-out", "k"},
			[]string{"0.0.0.0:8080", "loopback", "127.0.0.1"}},
		{"no port", []string{"--addr", "localhost"}, []string{"localhost", "HOST:PORT"}},
		{"address taken", []string{"--addr", taken.Addr().String(), "--kubeconfig-out", "k"},
			[]string{taken.Addr().String()}},
		{"kubeconfig there", []string{"--kubeconfig-out", exists}, []string{exists, "exists"}},
		{"kubeconfig nowhere", []string{"--kubeconfig-out", filepath.Join("no", "where")},
			[]string{"--kubeconfig-out", "no", "folder"}},
		{"argument", []string{"pods"}, []string{"pods"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			code, out, errOut := benchrun(t, append([]string{"serve-api"}, c.args...)...)
			if code != exitBadInput {
				t.Errorf("exit code %d, want %d", code, exitBadInput)
			}
			for _, w := range c.want {
				if !strings.Contains(errOut, w) {
					t.Errorf("the error does not say %q:\n%s%s", w, errOut, out)
				}
			}
			if entries, _ := os.ReadDir("."); len(entries) > 0 {
				t.Errorf("something was written: %v", entries)
			}
		})
	}
	if kept, err := os.ReadFile(exists); err != nil || string(kept) != "keep" {
		t.Errorf("the file that was there: %q, %v", kept, err)
	}
}
