package benchcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/input"
	"github.com/informerbench/informerbench/internal/progress"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/recorder"
	"github.com/informerbench/informerbench/measure/memory"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/objects/interned"
	"github.com/informerbench/informerbench/objects/packed"
	"github.com/informerbench/informerbench/report"
)

// memoryKeepers are the rows of the table of remedies beside those that strip. A name is a package
// below objects/.
var memoryKeepers = []memory.Keeper{
	{Name: "interned", New: func() contract.ObjectKeeper { return interned.New(interned.Options{}) }},
	{Name: "packed", New: func() contract.ObjectKeeper { return packed.New(packed.Options{}) }},
}

// memoryAsked is the command line of benchrun memory.
type memoryAsked struct {
	kubeconfig, context, trace, objects, heap, goroutines, mutex string
	namespace, selector                                          string
	resources, strip                                             []string
	sample                                                       int
	as, format, output                                           string
}

// The flags of benchrun memory that belong to one source.
var memoryFlags = map[string][]string{
	"kubeconfig": {"context", "resource", "namespace", "selector", "sample", "strip", "as"},
	"trace":      {"sample", "strip", "as"},
	"objects":    {"sample", "strip", "as"},
	"heap":       {"goroutines", "mutex"},
}

// memorySources are the keys of memoryFlags.
var memorySources = []string{"kubeconfig", "trace", "objects", "heap"}

func newMemory() *cobra.Command {
	a := memoryAsked{sample: memory.DefaultSample}
	cmd := &cobra.Command{
		Use:   "memory --kubeconfig FILE | --trace FILE | --objects FILE | --heap URL",
		Short: "Measure what a controller's objects take, by field, and what would take less",
		Long: `memory says why a controller is as large as it is, and what would make it smaller.

It reads objects: of a cluster, of a trace, or what kubectl get -o json prints. It
decodes them as an informer does, reads the heap, and says for each kind what the
objects take typed, unstructured and as metadata alone; which fields take it, and how
much of each field other objects have too; and what is left, and needed at the start,
if fields are stripped or only metadata is watched. The code for it follows.

A cluster is only listed, in pages of 500. A sample of each kind is kept in memory
and measured, nothing else. The permission it needs is list. Names of objects, values
and keys of data are in no output.

With --heap it reads the profile of a running controller (/debug/pprof/heap), and says
which kinds and fields its caches hold, and what else the heap has. --goroutines and
--mutex say whether readers keep the writer of client-go's store waiting.` + pipes,
		Example: `  benchrun memory --kubeconfig ~/.kube/config --resource pods,deployments.apps
  benchrun memory --kubeconfig prod.yaml --resource secrets --selector app=web
  kubectl get pods -A -o json | benchrun memory --objects -
  benchrun memory --objects pods.json --strip spec.containers[].env
  benchrun memory --objects pods.json --format html -o memory.html
  benchrun memory --trace pods.trace --as unstructured
  benchrun memory --heap http://localhost:6060/debug/pprof/heap`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.check(cmd); err != nil {
				return err
			}
			m, err := a.measure(cmd)
			if err != nil {
				if errors.Is(err, context.Canceled) {
					return fmt.Errorf("%w: nothing was measured to its end", runner.ErrInterrupted)
				}
				return err
			}
			if a.output == "" {
				out, _ := shown(cmd, false) // package report shows control characters itself
				return m.Write(out, a.format)
			}
			if err := record.ReplaceFile(a.output, 0o644, func(w io.Writer) error {
				return m.Write(w, a.format)
			}); err != nil {
				return notWritten(a.output, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n", a.output)
			return nil
		},
	}
	a.addFlags(cmd)
	return cmd
}

func (a *memoryAsked) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.kubeconfig, "kubeconfig", "", "list a cluster: `FILE` that says how to reach it")
	f.StringVar(
		&a.trace,
		"trace",
		"",
		"take the objects of a trace `FILE`, where it has most of them",
	)
	f.StringVar(&a.objects, "objects", "", "take the objects of a `FILE` of kubectl get -o json")
	f.StringVar(&a.heap, "heap", "", "take a heap profile: a `URL` or file")
	f.StringVar(
		&a.context,
		"context",
		"",
		"`NAME` of the kubeconfig's context (default the current one)",
	)
	f.StringSliceVar(&a.resources, "resource", []string{"pods"},
		"`NAMES` of what to list, as kubectl takes them: pods,deployments.apps,...")
	f.StringVarP(&a.namespace, "namespace", "n", "", "only this `NAMESPACE` (default all)")
	f.StringVar(&a.selector, "selector", "", "only what has these `LABELS`, such as app=web")
	f.Var(atLeastOne(&a.sample), "sample", "measure at most so many objects of each kind")
	f.StringArrayVar(&a.strip, "strip", nil, "`FIELDS` of the remedy that strips, comma-separated "+
		"(default managedFields and kubectl's last-applied-configuration)")
	f.StringVar(&a.as, "as", memory.FormTyped, "measure fields and remedies "+
		strings.Join(memory.Forms, " or "))
	f.StringVar(
		&a.goroutines,
		"goroutines",
		"",
		"beside --heap: a goroutine profile, a `URL` or file",
	)
	f.StringVar(&a.mutex, "mutex", "", "beside --heap: a mutex profile, a `URL` or file")
	f.StringVar(&a.format, "format", "text", strings.Join(report.MemoryFormats, ", "))
	f.StringVarP(
		&a.output,
		"output",
		"o",
		"",
		"`FILE` to write; must not exist (default the terminal)",
	)
	complete(cmd, "format", func(*cobra.Command) []cobra.Completion { return report.MemoryFormats })
	complete(cmd, "as", func(*cobra.Command) []cobra.Completion { return memory.Forms })
}

// check refuses flags that do not fit each other, before anything is read.
func (a *memoryAsked) check(cmd *cobra.Command) error {
	var given []string
	for _, s := range memorySources {
		if cmd.Flags().Changed(s) {
			given = append(given, "--"+s)
		}
	}
	if len(given) != 1 {
		return fmt.Errorf("%d sources are given, want one: use --%s", len(given),
			strings.Join(memorySources, " or --"))
	}
	source := strings.TrimPrefix(given[0], "--")
	for _, s := range memorySources {
		for _, flag := range memoryFlags[s] {
			if cmd.Flags().Changed(flag) && !slices.Contains(memoryFlags[source], flag) {
				return fmt.Errorf("--%s says nothing beside --%s: leave it out, or use it with --%s", flag,
					source, s)
			}
		}
	}
	if !slices.Contains(report.MemoryFormats, a.format) {
		return fmt.Errorf("--format %q: want %s", a.format, strings.Join(report.MemoryFormats, ", "))
	}
	if !slices.Contains(memory.Forms, a.as) {
		return fmt.Errorf("--as %q: want %s", a.as, strings.Join(memory.Forms, " or "))
	}
	if a.output != "" {
		return mayBeMade(a.output, "-o")
	}
	return nil
}

// measure does what is asked for.
func (a *memoryAsked) measure(cmd *cobra.Command) (*report.Memory, error) {
	if a.heap != "" {
		return a.profiles(cmd.Context())
	}
	o := memory.Options{Form: a.as, Keepers: memoryKeepers}
	for _, fields := range a.strip {
		o.Strip = append(o.Strip, strings.Split(fields, ",")...)
	}
	if err := memory.CheckStrip(o.Strip); err != nil {
		return nil, fmt.Errorf("--strip: %w", err)
	}
	s, shown := memory.NewSampler(a.sample), newTimed(cmd.ErrOrStderr())
	source, err := a.read(cmd.Context(), s, shown)
	shown.End()
	if err != nil {
		return nil, err
	}
	shown = newTimed(cmd.ErrOrStderr())
	o.Progress = func(done, total int) { shown.show("measuring", int64(done), int64(total)) }
	r, err := memory.Measure(cmd.Context(), s, o)
	shown.End()
	if err != nil {
		return nil, err
	}
	var keepers []string
	for _, k := range memoryKeepers {
		keepers = append(keepers, k.Name)
	}
	code, err := memory.Code(r, keepers)
	return &report.Memory{Source: source, Objects: r, Code: code}, err
}

// read gives the sampler all objects, and names their source.
func (a *memoryAsked) read(
	ctx context.Context,
	s *memory.Sampler,
	shown timed,
) (string, error) {
	switch {
	case a.trace != "":
		t, err := load.ReadTraceFile(a.trace)
		if err != nil {
			return "", err
		}
		return a.trace, s.AddTrace(t)
	case a.objects != "":
		in, err := input.Open(a.objects)
		if err != nil {
			return "", fmt.Errorf("--objects: %w", err)
		}
		defer in.Close() // only read: nothing can be lost
		name := a.objects
		if name == "-" {
			name = "standard input"
		}
		size := int64(0) // of a pipe
		if info, err := os.Stat(a.objects); err == nil {
			size = info.Size()
		}
		if err := s.ReadJSON(&watched{ctx, in, shown, 0, size}); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return name, nil
	}
	cluster, err := recorder.Connect(a.kubeconfig, a.context)
	if err != nil {
		return "", err
	}
	resources, err := cluster.Resolve(ctx, a.resources)
	if err != nil {
		return "", err
	}
	for _, r := range resources {
		n := int64(0)
		if err := cluster.List(ctx, r, a.namespace, a.selector, func(u *unstructured.Unstructured) error {
			n++
			return s.AddObject(u, r.GVK())
		}, func(left int64) { shown.show("listing "+r.String(), n, n+left) }); err != nil {
			return "", err
		}
	}
	if s.Objects() == 0 {
		return "", errors.New(
			"the cluster has no such objects: ask for others with --resource, or leave " +
				"out --namespace and --selector",
		)
	}
	return cluster.Host, nil
}

// watched is a file that shows how far it is read, and ends with its context.
type watched struct {
	ctx context.Context
	io.Reader
	shown      timed
	read, size int64
}

func (r *watched) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.Reader.Read(p)
	if r.read += int64(n); r.size > 0 {
		r.shown.show("reading", r.read, r.size)
	}
	return n, err
}

// profiles reads those of a running controller.
func (a *memoryAsked) profiles(ctx context.Context) (*report.Memory, error) {
	p, err := memory.ReadProfile(ctx, a.heap)
	if err != nil {
		return nil, fmt.Errorf("--heap: %w", err)
	}
	h, err := memory.ReadHeap(p)
	if err != nil {
		return nil, fmt.Errorf("--heap: %w", err)
	}
	for _, more := range []struct {
		flag, place string
		read        func(*memory.Profile) (memory.Waits, error)
	}{{"goroutines", a.goroutines, memory.ReadGoroutines}, {"mutex", a.mutex, memory.ReadMutex}} {
		if more.place == "" {
			continue
		}
		p, err := memory.ReadProfile(ctx, more.place)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", more.flag, err)
		}
		w, err := more.read(p)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", more.flag, err)
		}
		h.Waits = append(h.Waits, w)
	}
	return &report.Memory{Source: memory.ShownPlace(a.heap), Heap: h}, nil
}

// timed shows how long work still takes, if it takes more than a second.
type timed struct {
	*progress.Line
	started time.Time
}

func newTimed(out io.Writer) timed { return timed{progress.New(out), time.Now()} }

func (p timed) show(what string, done, total int64) {
	since := time.Since(p.started)
	if since < time.Second {
		return
	}
	left := time.Duration(float64(since) * float64(total-done) / float64(max(1, done)))
	p.Show(float64(done)/float64(max(1, total)),
		report.VisibleLine(fmt.Sprintf("%s left, %s", left.Round(time.Second), what)))
}
