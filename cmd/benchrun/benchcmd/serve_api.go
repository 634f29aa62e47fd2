package benchcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/presets"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// serveOptions are the flags of serve-api.
type serveOptions struct {
	preset, trace string
	pods, nodes   int
	rate          float64
	rateGiven     bool
	compress      float64
	duration      time.Duration
	faults        uint64
	seed          uint64
	kubeconfig    string
	reads, writes int // most in flight, 0 for no limit
	server        apiserver.Options
}

// The defaults of serve-api.
const (
	defaultServedPods = 1000
	defaultServeRate  = 1000
	faultsOfAKind     = 20
)

func newServeAPI() *cobra.Command {
	o := serveOptions{compress: 1}
	cmd := &cobra.Command{
		Use:   "serve-api",
		Short: "Serve pods and nodes over HTTP as a Kubernetes API server would, and change them",
		Long: `serve-api serves generated pods and nodes on this machine as a Kubernetes API server
would, prints a kubeconfig for it, and writes to the pods: what the writers of a preset
do, or the events of a trace at their own time. kubectl, client-go and
controller-runtime work with it: list, watch, create, update, patch, delete.

Without --preset and --trace nothing is written unless --rate says so.
--faults makes connections and requests fail, the same for the same seed, once a watch
has caught up: the first sync succeeds.
Ctrl-C stops it.`,
		Example: `  benchrun serve-api --pods 10000 --rate 100 --kubeconfig-out kubeconfig
  kubectl --kubeconfig kubeconfig get pods --namespace ns-00 --watch
  benchrun serve-api --preset lock-starvation --tls --token secret
  benchrun serve-api --trace openb.trace --compress 0.1 --for 10m
  benchrun serve-api --pods 100 --rate 50 --faults 1    # does my controller survive it?`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			// 0 is no limit, as in kube-apiserver; Options has -1 for that.
			o.server.MaxInFlight, o.server.MaxMutatingInFlight = cmp.Or(o.reads, -1), cmp.Or(o.writes, -1)
			o.server.ErrorLog = log.New(cmd.ErrOrStderr(), "", log.LstdFlags)
			return o.serve(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.preset, "preset", "",
		"`NAME` of a preset, whose objects are served and whose writers write")
	f.StringVar(&o.trace, "trace", "",
		"trace `FILE` whose events are played (see benchrun record and benchrun trace)")
	f.Var(wholeNumber(&o.pods, 1, maxServed), "pods",
		fmt.Sprintf("how many pods (default: the preset's, or %d)",
			defaultServedPods))
	f.Var(wholeNumber(&o.nodes, 1, maxServed), "nodes",
		"how many nodes they run on (default: the preset's or trace's, or one for 30 pods)")
	f.Float64Var(&o.rate, "rate", 0,
		fmt.Sprintf("writes per second (default: the preset's, or %d where it writes as fast as it can)",
			defaultServeRate))
	f.Var(aboveZero(&o.compress), "compress", "divide the trace's times by this")
	f.Var(longerThanZero(&o.duration), "for", "how long to serve, such as 10m (default: until Ctrl-C)")
	f.Uint64Var(&o.faults, "faults", 0,
		fmt.Sprintf("`SEED` of random faults, %d of each kind; 0 for none", faultsOfAKind))
	f.Uint64Var(&o.seed, "seed", load.DefaultSeed, "seed of the objects and writes")
	f.StringVar(&o.server.Address, "addr", apiserver.DefaultAddress,
		"`HOST:PORT` to listen on, loopback only; port 0 is a free one")
	f.BoolVar(&o.server.TLS, "tls", false, "serve HTTPS, with a certificate that the kubeconfig holds")
	f.StringVar(&o.server.Token, "token", "",
		"bearer `TOKEN` that clients must bring; the kubeconfig holds it")
	f.IntVar(&o.reads, "max-requests-inflight", apiserver.DefaultMaxInFlight,
		"most gets and lists in progress at once; one more gets 429; 0 for no limit")
	f.IntVar(&o.writes, "max-mutating-requests-inflight", apiserver.DefaultMaxMutatingInFlight,
		"most writes in progress at once; one more gets 429; 0 for no limit")
	f.StringVar(&o.kubeconfig, "kubeconfig-out", "",
		"`FILE` to write the kubeconfig to instead of printing it, until the server stops; must not "+
			"exist")
	return cmd
}

// check finds mistakes in the flags before anything is created.
func (o *serveOptions) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	o.rateGiven = given("rate")
	switch {
	case o.preset != "" && o.trace != "":
		return errors.New("--preset and --trace exclude each other: give one")
	case o.trace != "" && given("pods"):
		return errors.New("--pods: the pods of a trace come from it: leave out --pods")
	case o.trace != "" && given("rate"):
		return errors.New(
			"--rate: the events of a trace have their times: leave out --rate, or use --compress")
	case o.trace == "" && given("compress"):
		return errors.New("--compress is for the times of a --trace: give one, or use --rate")
	case !(o.rate >= 0 && o.rate <= maxServeRate):
		return fmt.Errorf("--rate %v: use 0 to %g", o.rate, float64(maxServeRate))
	case o.reads < 0:
		return fmt.Errorf("--max-requests-inflight %d: use 1 or more, or 0 for no limit", o.reads)
	case o.writes < 0:
		return fmt.Errorf("--max-mutating-requests-inflight %d: use 1 or more, or 0 for no limit",
			o.writes)
	}
	if err := apiserver.CheckAddress(o.server.Address); err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	if o.kubeconfig == "" {
		return nil
	}
	return mayBeMade(o.kubeconfig, "--kubeconfig-out")
}

// The bounds keep a mistake in a flag from exhausting the machine.
const (
	maxServed    = 10_000_000
	maxServeRate = 1e6
)

// plan is the served objects and the writes to them.
type plan struct {
	pods, nodes []runtime.Object
	// served instead of the pods, if not nil
	trace *load.Trace
	// nil for no writes
	play func(ctx context.Context, sources sources, done *atomic.Int64) error
	what string
}

// sources are the sources of a server.
type sources map[schema.GroupVersionResource]*synthetic.Source

func (s sources) stop() {
	for _, source := range s {
		source.Stop()
	}
}

// count lists the number of objects of each resource.
func (s sources) count() string {
	var words []string
	for _, gvr := range slices.SortedFunc(maps.Keys(s), func(a, b schema.GroupVersionResource) int {
		return strings.Compare(a.String(), b.String())
	}) {
		words = append(words, fmt.Sprintf("%d %s", len(s[gvr].Snapshot()), gvr.GroupResource()))
	}
	return strings.Join(words, " and ")
}

// sources makes the sources to serve. The faults strike the pods, or the resources of a
// trace.
func (p plan) sources(faults []synthetic.Fault) sources {
	out := sources{}
	if p.trace != nil {
		out = p.trace.Sources(synthetic.SourceOptions{Faults: faults})
	} else {
		out[apiserver.Pods] = synthetic.NewSource(p.pods,
			synthetic.SourceOptions{Example: &corev1.Pod{}, Faults: faults})
	}
	if out[apiserver.Nodes] == nil {
		out[apiserver.Nodes] = synthetic.NewSource(p.nodes,
			synthetic.SourceOptions{Example: &corev1.Node{}})
	}
	return out
}

func (o *serveOptions) someNodes(n int) []runtime.Object {
	return synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindNode, Count: n}, o.seed).All()
}

func (o *serveOptions) plan() (plan, error) {
	if o.trace != "" {
		trace, err := load.ReadTraceFile(o.trace)
		if err != nil {
			return plan{}, err
		}
		p := plan{trace: trace, what: fmt.Sprintf("%d events of %s", len(trace.Events), o.trace),
			nodes: apiserver.TraceNodes(trace)}
		if o.nodes > 0 {
			if slices.ContainsFunc(trace.Resources, func(r load.TraceResource) bool {
				return r.GVR() == apiserver.Nodes
			}) {
				return plan{}, fmt.Errorf(
					"--nodes %d: the trace %s has nodes of its own, which are served: leave --nodes out", o.nodes,
					o.trace)
			}
			p.nodes = o.someNodes(o.nodes)
		}
		o.server.ClusterScoped = map[schema.GroupVersionResource]bool{}
		for _, r := range trace.Resources {
			o.server.ClusterScoped[r.GVR()] = !r.Namespaced
		}
		p.play = func(ctx context.Context, to sources, done *atomic.Int64) error {
			err := load.Play(ctx, trace, to,
				load.PlayOptions{Compress: o.compress, Shared: true,
					Applied: func(load.TraceEvent, time.Time, runtime.Object) {
						done.Add(1)
					}})
			if ctx.Err() != nil {
				return nil // the context has ended
			}
			return err
		}
		return p, nil
	}
	spec, traffic := synthetic.ObjectSpec{Count: defaultServedPods},
		apiserver.Traffic{Op: load.OpUpdate}
	if o.preset != "" {
		preset, err := presets.Lookup(o.preset)
		if err != nil {
			return plan{}, err
		}
		if spec, traffic, err = apiserver.TrafficOf(preset); err != nil {
			return plan{}, err
		}
		if traffic.Rate == 0 {
			traffic.Rate = defaultServeRate
		}
	}
	if spec.Kind == "" || spec.Kind == synthetic.KindNode {
		spec.Kind = synthetic.KindPod
	}
	if o.pods > 0 {
		spec.Count = o.pods
	}
	if o.nodes > 0 {
		spec.Nodes = o.nodes
	}
	if o.rateGiven {
		traffic.Rate = o.rate
	}
	if err := sysinfo.CheckMemory("--pods", spec.Count, spec.BytesEach()); err != nil {
		return plan{}, err
	}
	traffic.Objects, traffic.Seed = synthetic.Generate(spec, o.seed), o.seed
	p := plan{pods: traffic.Objects.All(), nodes: o.someNodes(spec.NodeCount()),
		what: "nothing of its own"}
	if traffic.Rate > 0 {
		p.play = func(ctx context.Context, to sources, done *atomic.Int64) error {
			return traffic.Play(ctx, to[apiserver.Pods], done)
		}
		p.what = fmt.Sprintf("%g %s/s", traffic.Rate, traffic.Op)
	}
	return p, nil
}

func (o *serveOptions) serve(ctx context.Context, out, errOut io.Writer) error {
	p, err := o.plan()
	if err != nil {
		return err
	}
	var sourceFaults []synthetic.Fault
	if o.faults > 0 {
		o.server.Faults, sourceFaults = apiserver.RandomFaults(o.faults, faultsOfAKind)
	}
	served := p.sources(sourceFaults)
	defer served.stop()
	server, err := apiserver.New(served, o.server)
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	defer server.Stop()
	if err := o.handOut(server, out); err != nil {
		return err
	}
	if o.kubeconfig != "" {
		// it leads nowhere then, and the same command writes it again
		defer func() { _ = os.Remove(o.kubeconfig) }()
	}
	fmt.Fprintf(errOut, "serving %s at %s; it writes %s; Ctrl-C stops it\n", served.count(),
		server.URL(), p.what)
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}
	return o.watch(ctx, server, served, p, errOut)
}

// handOut prints the kubeconfig, or writes it to a file that only its owner can read,
// because it contains the token.
func (o *serveOptions) handOut(server *apiserver.Server, out io.Writer) error {
	data, err := server.Kubeconfig()
	if err != nil {
		return err
	}
	if o.kubeconfig == "" {
		_, err = out.Write(data)
		return err
	}
	if _, err := os.Lstat(o.kubeconfig); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--kubeconfig-out: %s was made meanwhile: choose another file", o.kubeconfig)
	}
	if err := record.ReplaceFile(o.kubeconfig, 0o600, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}); err != nil {
		return fmt.Errorf("--kubeconfig-out: %w", notWritten(o.kubeconfig, err))
	}
	fmt.Fprintf(out, "kubeconfig %s\n", o.kubeconfig)
	return nil
}

// The interval of the progress: on a terminal in place, elsewhere line by line.
const (
	progressOnTerminal = time.Second
	progressInLog      = 10 * time.Second
)

// watch runs the plan's writes and shows progress until the context ends.
func (o *serveOptions) watch(ctx context.Context, server *apiserver.Server, served sources, p plan,
	errOut io.Writer) error {
	var written atomic.Int64
	played := make(chan error, 1)
	if p.play != nil {
		go func() { played <- p.play(ctx, served, &written) }()
	}
	every, end := progressInLog, "\n"
	if isTerminal(errOut) {
		every, end = progressOnTerminal, "\x1b[K\r"
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	start := time.Now()
	line := func(end string) {
		s := server.Stats()
		struck := slices.Collect(maps.Values(server.Struck()))
		for _, source := range served {
			struck = slices.AppendSeq(struck, maps.Values(source.Struck()))
		}
		faults := 0
		for _, n := range struck {
			faults += n
		}
		fmt.Fprintf(errOut, "%s: %d written, %d requests, %d watches open, %d events (%.1f MB) sent, "+
			"%d faults%s", time.Since(start).Round(time.Second), written.Load(), s.Requests, s.Watches,
			s.Events, float64(s.Bytes)/1e6, faults, end)
	}
	for {
		select {
		case <-ticker.C:
			line(end)
		case err := <-played:
			if ctx.Err() == nil && err == nil {
				line("\n")
				fmt.Fprintln(errOut, "all is written; what there is stays served")
				p.play, played = nil, nil
				continue
			}
			line("\n")
			return broken(err)
		case <-ctx.Done():
			if p.play != nil {
				if err := <-played; err != nil { // wait, because it writes into a source that is about to stop
					return broken(err)
				}
			}
			line("\n")
			return nil
		}
	}
}
