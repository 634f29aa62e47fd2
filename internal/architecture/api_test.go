package architecture

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/api.md anew")

// callers says of each public package who calls it, in the order of docs/api.md.
var callers = []struct {
	title    string
	packages map[string]string
}{
	{"For programs that watch Kubernetes objects", map[string]string{
		"core/informer":                  "Controllers, in place of client-go's tools/cache; controller-runtime's cache by its option NewInformer.",
		"core/informer/informers":        "Controllers, in place of k8s.io/client-go/informers.",
		"core/informer/dynamicinformer":  "Controllers, in place of k8s.io/client-go/dynamic/dynamicinformer.",
		"core/informer/metadatainformer": "Controllers, in place of k8s.io/client-go/metadata/metadatainformer.",
		"core/indexer":                   "Who needs a cache.Indexer over one of the stores.",
		"ctrlqueue":                      "Controllers of controller-runtime, as controller.Options.NewQueue.",
		"core/dropin/cache":              "Controllers, in place of k8s.io/client-go/tools/cache.",
		"dropin/priorityqueue":           "Controllers of controller-runtime, in place of its pkg/controller/priorityqueue.",
		"core/dropin/workqueue":          "Controllers, in place of k8s.io/client-go/util/workqueue.",
		"core/queue/workqueue":           "Controllers that choose the parts of their queue, such as its heap or its order.",
		"core/queue/ratelimit":           "Controllers, to make the limiter of their queue.",
		"core/queue/deltafifo":           "Programs with a cache.Controller of their own; the informers here.",
		"core/queue/delay":               "Authors of delaying queues; the queues here.",
		"core/impl/lockfree":             "Programs with a cache.ThreadSafeStore of their own; the informers here use it unless told otherwise.",
		"core/impl/mutexmap":             "Programs that want the plain baseline: a map under an RWMutex.",
		"core/impl/sharded":              "Programs that want this trade-off; see docs/stores.md.",
		"core/impl/dense":                "Programs that want this trade-off; see docs/stores.md.",
		"core/impl/cowtree":              "Programs that want this trade-off; see docs/stores.md.",
		"impl/concurrentmap":             "Programs that want this trade-off; see docs/stores.md.",
	}},
	{"For authors of stores, FIFOs, heaps, queues, limiters and informers", map[string]string{
		"core/contract":            "Everyone: the interfaces, and the clauses that the suites test.",
		"conformance/storetest":    "The tests of a store.",
		"conformance/fifotest":     "The tests of a FIFO.",
		"conformance/delaytest":    "The tests of a structure of waiting items.",
		"conformance/queuetest":    "The tests of a workqueue.",
		"conformance/limittest":    "The tests of a rate limiter.",
		"conformance/informertest": "The tests of an informer.",
		"conformance/linear":       "The tests of a store that many goroutines use.",
		"conformance/metamorphic":  "The tests of several stores that must agree.",
		"conformance/suite":        "All of these tests, for options and results.",
		"core/explore":             "Tests of structures without locks: interleavings, explored step by step (build tag explore).",
		"core/impl/indexing":       "Stores with maps and locks: the bookkeeping of index values.",
		"core/synthetic":           "Tests and measurements that need objects, or a list/watch source that can fail.",
		"conformance/witness":      "Tests that watch what an informer tells its handlers.",
		"load/apiserver":           "Tests that need an API server in the process; benchrun serve-api.",
		"bench":                    "Benchmarks of an implementation: Store, FIFO, DelayHeap, Queue, Informer. The rest is benchrun's, for each fork.",
		"benchcmd":                 "The main of cmd/benchrun, and of programs that measure implementations of their own.",
		"catalog":                  "Programs that measure implementations of their own: the constructors, their options, Extend. benchrun, and tests that go over all implementations.",
	}},
	{"Parts of benchrun, which may change from one version to the next", map[string]string{
		"bench/runner":              "benchrun run, pair and selfcheck.",
		"core/impl/upstream":        "The catalog: client-go's own.",
		"impl/ctrlruntime":          "The catalog: controller-runtime's priority queue.",
		"conformance/mutants":       "benchrun verify --mutants: broken implementations that the suites must catch.",
		"load":                      "The measurements: workloads, presets, traces.",
		"load/apiserver/apitest":    "Tests that compare our API server's answers with a real one's.",
		"load/record":               "benchrun record.",
		"measure/metrics":           "Whoever names a number: the measurements, verdicts, reports.",
		"measure/stats":             "The verdicts and the reports.",
		"measure/sysinfo":           "The measurements, and the runner for its child processes.",
		"measure/record":            "Whoever reads or writes a run.",
		"measure/record/recordtest": "Tests of verdicts and reports.",
		"compare":                   "benchrun compare and the reports.",
		"history":                   "benchrun history.",
		"report":                    "benchrun, to write reports.",
		"advise":                    "benchrun advise.",
		"web":                       "benchrun serve.",
	}},
}

// TestAPIPageIsTrue compares docs/api.md with the code: every public package is there, with
// who calls it and what go doc -short shows.
func TestAPIPageIsTrue(t *testing.T) {
	var page bytes.Buffer
	page.WriteString("# What can be imported\n\nEvery package outside `internal/`, who calls it, and what `go doc -short` shows. Those in `core/` are a module of their own, which needs client-go and what it brings. A test compares this page with the code;\n`go test ./internal/architecture -run TestAPIPageIsTrue -update` writes it anew.\n")
	named := map[string]bool{}
	for _, group := range callers {
		fmt.Fprintf(&page, "\n## %s\n", group.title)
		for _, path := range slices.Sorted(maps.Keys(group.packages)) {
			named[path] = true
			cmd := exec.CommandContext(t.Context(), "go", "doc", "-short", module+"/"+path)
			cmd.Dir = filepath.Join("..", "..")
			doc, err := cmd.Output()
			if err != nil {
				t.Errorf("go doc ./%s: %v", path, err)
				continue
			}
			fmt.Fprintf(&page, "\n### %s\n%s\n\n```go\n%s\n```\n", path, group.packages[path], strings.TrimSpace(string(doc)))
		}
	}
	for path, p := range load(t) {
		public := len(p.GoFiles) > 0 && p.Name != "main" && !slices.Contains(strings.Split(path, "/"), "internal")
		if public && !named[path] {
			t.Errorf("%s can be imported: say in callers who does, or make it internal", path)
		}
		if !public && named[path] {
			t.Errorf("%s cannot be imported from outside", path)
		}
	}
	file := filepath.Join("..", "..", "docs", "api.md")
	if *update {
		if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(kept, page.Bytes()) {
		t.Errorf("docs/api.md is not what the code says (%v): go test ./internal/architecture -run TestAPIPageIsTrue -update", err)
	}
}
