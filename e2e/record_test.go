package e2e

// benchrun record against the server, and benchrun run over the recording.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/report"
)

// TestRecordAndReplay records while twenty writers write, connections are cut and the
// history is lost, and replays the trace. The trace ends in the state of the server.
func TestRecordAndReplay(t *testing.T) {
	const objects = 1000
	benchrun := filepath.Join(t.TempDir(), "benchrun")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", benchrun, "./cmd/benchrun")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	c := newCluster(t)
	c.createWidgets(t.Context(), objects)
	trace := filepath.Join(t.TempDir(), "widgets.trace")
	w := c.startWriters(t.Context(), objects, 0)

	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	record := exec.CommandContext(ctx, benchrun, "record", "--kubeconfig", c.kubeconfig(t),
		"--resource", widgets.GroupResource().String(), "--for", "10m", "-o", trace)
	record.Cancel = func() error { return record.Process.Signal(os.Interrupt) }
	record.WaitDelay = patience // then it is killed
	var said strings.Builder
	record.Stdout, record.Stderr = &said, &said
	must(t, record.Start())
	t.Cleanup(func() {
		interrupt()
		_ = record.Wait() // a second call only reports that it is one
		t.Logf("benchrun record said:\n%s", said.String())
	})
	eventually(t, "the first list is recorded", func() error { _, err := os.Stat(trace); return err })
	w.awaitWrites(t, 200)
	if c.line.cut() == 0 {
		t.Error("there was no connection to cut")
	}
	w.awaitWrites(t, 200)
	// What happens now is in no watch cache when the recorder comes back.
	c.line.setDown(true)
	w.awaitWrites(t, 50)
	c.restart()
	w.awaitWrites(t, 50)
	must(t, c.compact(t.Context()))
	c.line.setDown(false)
	w.awaitWrites(t, 200)
	w.stop(t)
	want := must1(c.state(t.Context()))(t)
	memoryIsMeasured(t, benchrun, c.kubeconfig(t), len(want))
	eventually(t, "the recording has the server's state", func() error {
		return traceEndsIn(trace, want)
	})
	interrupt()
	// Ctrl-C ends it early, so its exit code is 130.
	if err := record.Wait(); err == nil || record.ProcessState.ExitCode() != 130 {
		t.Fatalf("benchrun record: %v\n%s", err, said.String())
	}
	if !strings.Contains(said.String(), "relisted") {
		t.Error("the recorder met no 410: the scenario shows less than it should")
	}
	if err := traceEndsIn(trace, want); err != nil {
		t.Fatal(err)
	}

	results := filepath.Join(t.TempDir(), "results")
	run := exec.CommandContext(t.Context(), benchrun, "run", "--trace", trace, "--impl",
		"clientgo,lockfree", "--forks", "1", "--compress", "10", "--profile=false", "--skip-verify", "-o",
		results)
	out, err := run.CombinedOutput()
	// 3 means that one fork is too few to tell which is better: that is not asked here.
	if err != nil && run.ProcessState.ExitCode() != 3 {
		t.Fatalf("benchrun run --trace: %v\n%s", err, out)
	}
	for _, file := range []string{"run.json", "bench.txt", "report.md"} {
		if info, err := os.Stat(filepath.Join(results, file)); err != nil || info.Size() == 0 {
			t.Errorf("benchrun run --trace left no %s: %v\n%s", file, err, out)
		}
	}
}

// memoryIsMeasured runs benchrun memory over the widgets. The bytes of all fields must add up to the
// heap that was measured, within 5 percent.
func memoryIsMeasured(t *testing.T, benchrun, kubeconfig string, objects int) {
	out, err := exec.CommandContext(t.Context(), benchrun, "memory", "--kubeconfig", kubeconfig,
		"--resource", widgets.GroupResource().String(), "--format", "json").Output()
	if err != nil {
		t.Fatalf("benchrun memory: %v\n%s", err, out)
	}
	var m report.Memory
	must(t, json.Unmarshal(out, &m))
	if len(m.Objects.Kinds) != 1 || m.Objects.Kinds[0].Objects != objects {
		t.Fatalf("want %d objects of one kind:\n%s", objects, out)
	}
	kind := &m.Objects.Kinds[0]
	if off := float64(kind.Walked)/float64(kind.Measured()) - 1; off < -0.05 || off > 0.05 {
		t.Errorf("the fields have %d bytes, and %d were measured", kind.Walked, kind.Measured())
	}
}

// kubeconfig writes a file that leads to the server over the line.
func (c *cluster) kubeconfig(t testing.TB) string {
	config := c.restConfig(c.line)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			"e2e": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			"e2e": {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{"e2e": {Cluster: "e2e", AuthInfo: "e2e"}},
		CurrentContext: "e2e",
	}, path))
	return path
}

// traceEndsIn returns an error unless the trace, which may still grow, leads to the state.
func traceEndsIn(file string, want map[string]metav1.Object) error {
	trace, err := load.ReadTraceFile(file)
	if growing := errors.Is(err, load.ErrTraceTruncated) && trace != nil; err != nil && !growing {
		return err
	}
	have := map[string]metav1.Object{}
	for key, obj := range trace.FinalState()[0] {
		m, err := meta.Accessor(obj)
		if err != nil {
			return err
		}
		have[key] = m
	}
	if d := compareVersions(have, want); len(d) > 0 {
		return fmt.Errorf("the trace differs from the server in %d objects: %s", len(d), d[0])
	}
	return nil
}
