package bench_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/objects/interned"
	"github.com/informerbench/informerbench/objects/packed"
)

var (
	startObjects = flag.Int("start.objects", 5_000, "pods of BenchmarkStart")
	startLimits  = flag.Bool("start.limits", false,
		"BenchmarkStart once more with GOMEMLIMIT so that the process is at 1.2 of what stays")
)

// starts are what BenchmarkStart starts. Each informer has one handler.
var starts = map[string]func(cache.ListerWatcher, bool) cache.SharedIndexInformer{
	"clientgo": func(lw cache.ListerWatcher, _ bool) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
	},
	"plain": func(lw cache.ListerWatcher, stream bool) cache.SharedIndexInformer {
		return startOf(lw, stream, informer.Options{})
	},
	"interned": func(lw cache.ListerWatcher, stream bool) cache.SharedIndexInformer {
		return startOf(lw, stream, informer.Options{Objects: interned.New(interned.Options{})})
	},
	"packed": func(lw cache.ListerWatcher, stream bool) cache.SharedIndexInformer {
		return startOf(lw, stream, informer.Options{Objects: packed.New(packed.Options{})})
	},
}

const pageOfStart = 500

func startOf(lw cache.ListerWatcher, stream bool, o informer.Options) cache.SharedIndexInformer {
	o.UseWatchList = ptr.To(stream)
	if !stream {
		o.PageSize = pageOfStart
	}
	return informer.New(lw, &corev1.Pod{}, o)
}

// start is what a process is asked to start, by an environment variable.
type start struct {
	Impl   string
	Stream bool
	URL    string
}

// started is what it answers.
type started struct {
	Peak, Stays float64 // VmHWM until it had synced, and VmRSS after forced collections, in bytes
	Program     float64 // the part of Stays that is mapped from files: GOMEMLIMIT leaves it out
	Synced      time.Duration
}

const startEnv = "BENCH_START"

// The process that starts is this program, before its tests.
func init() {
	if text := os.Getenv(startEnv); text != "" {
		if err := runStart(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// BenchmarkStart is the start of a cache of pods of 10 KB that another process serves over HTTP by
// protobuf: the process' peak of resident memory by what stays. A collector that may take twice
// what lives (GOGC=100) makes the peak 2 and more: with -start.limits, GOMEMLIMIT is given too.
func BenchmarkStart(b *testing.B) {
	spec := synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: *startObjects, Decoded: true,
		Production: true}
	source := synthetic.NewSource(synthetic.Generate(spec, 1).All(),
		synthetic.SourceOptions{Example: &corev1.Pod{}})
	defer source.Stop()
	server, err := apiserver.New(map[schema.GroupVersionResource]*synthetic.Source{apiserver.Pods: source},
		apiserver.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer server.Stop()
	for _, way := range []string{"pages", "stream"} {
		for _, impl := range slices.Sorted(maps.Keys(starts)) {
			b.Run(fmt.Sprintf("list=%s/impl=%s/objects=%d", way, impl, spec.Count), func(b *testing.B) {
				ask := start{Impl: impl, Stream: way == "stream", URL: server.URL()}
				for range b.N {
					s := startInProcess(b, ask, math.MaxInt64)
					report(b, s, "")
					if *startLimits {
						report(b, startInProcess(b, ask, int64(1.2*s.Stays-s.Program)), "limited-")
					}
				}
			})
		}
	}
}

func report(b *testing.B, s started, prefix string) {
	b.ReportMetric(s.Peak/s.Stays, prefix+"peak/stays")
	b.ReportMetric(s.Peak/(1<<20), prefix+"peak-MiB")
	b.ReportMetric(s.Stays/(1<<20), prefix+"stays-MiB")
	b.ReportMetric(s.Synced.Seconds(), prefix+"synced-s")
}

// startInProcess runs a start in a process of its own.
func startInProcess(b *testing.B, ask start, limit int64) (s started) {
	text, err := json.Marshal(ask)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$") //nolint:gosec // this program
	cmd.Env = append(os.Environ(), startEnv+"="+string(text), fmt.Sprintf("GOMEMLIMIT=%d", limit))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	if err != nil {
		b.Fatalf("the process that starts: %v\n%s", err, out)
	}
	return s
}

// runStart is the process that starts.
func runStart(text string) error {
	var ask start
	if err := json.Unmarshal([]byte(text), &ask); err != nil {
		return err
	}
	config := &rest.Config{Host: ask.URL, QPS: -1, ContentConfig: rest.ContentConfig{
		ContentType: apiruntime.ContentTypeProtobuf}}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	pods := client.CoreV1().Pods("")
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) {
			if o.Limit = pageOfStart; o.ResourceVersion == "0" {
				o.ResourceVersion = "" // at 0 a watch cache answers with everything at once
			}
			return pods.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return pods.Watch(ctx, o)
		},
	}
	inf := starts[ask.Impl](lw, ask.Stream)
	var told atomic.Int64
	handle, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		told.Add(1)
	}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done, begun := make(chan struct{}), time.Now()
	go func() { defer close(done); inf.RunWithContext(ctx) }()
	<-handle.HasSyncedChecker().Done()
	s := started{Synced: time.Since(begun), Peak: status("VmHWM")}
	debug.FreeOSMemory()
	debug.FreeOSMemory()
	s.Stays, s.Program = status("VmRSS"), status("RssFile")
	runtime.KeepAlive(inf)
	cancel()
	<-done
	return json.NewEncoder(os.Stdout).Encode(s)
}

// status reads a number of bytes from /proc/self/status.
func status(name string) float64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			var kb float64
			if _, err := fmt.Sscan(value, &kb); err != nil {
				panic(err)
			}
			return kb * 1024
		}
	}
	panic("no " + name + " in /proc/self/status")
}
