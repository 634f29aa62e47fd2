package load

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// CSVFile is a file to import, with its name for messages.
type CSVFile struct {
	Name   string
	Reader io.Reader
}

// ImportOptions configures ImportCSV. The zero value works.
type ImportOptions struct {
	// Compress divides all times, 1 or more; 0 means 1, the original times. With 100,000
	// the 149 days of the openb trace replay in 129 seconds.
	Compress float64
	// Seed generates the values that the files do not have: namespaces, nodes, UIDs,
	// labels. The default is DefaultSeed.
	Seed uint64
	// SkipBadRows leaves broken rows out and counts them, instead of failing.
	SkipBadRows bool
	// Namespaces is the number of namespaces; the default is DefaultTraceNamespaces.
	Namespaces int
	// DeleteAtEnd keeps a deletion at the trace's last instant. By default such a pod
	// counts as alive at the end of the recording, because the recording gives every pod a
	// deletion time.
	DeleteAtEnd bool
}

// DefaultTraceNamespaces is the number of namespaces of an imported trace.
const DefaultTraceNamespaces = 20

// ImportReport counts the rows by outcome.
type ImportReport struct {
	PodRows, NodeRows int // data rows read, good or bad
	Pods, Nodes       int // imported
	// Skipped counts the rows left out, by file, column and problem:
	// "pods.csv: qos: not one of the values". Empty without SkipBadRows.
	Skipped map[string]int
	// NeverScheduled counts the pods without a scheduled_time; they have no node.
	NeverScheduled int
	// AliveAtEnd counts the pods that were alive when the recording ended.
	AliveAtEnd int
	// Instant counts the pods that were deleted in the second of their creation.
	Instant int
}

// SkippedRows is the total number of rows left out.
func (r ImportReport) SkippedRows() int {
	n := 0
	for _, v := range r.Skipped {
		n += v
	}
	return n
}

// maxRowErrors is how many broken rows an error names one by one.
const maxRowErrors = 20

// ImportCSV turns pod lifecycles in the columns of the Alibaba cluster trace
// cluster-trace-gpu-v2023 (openb_pods.csv and openb_nodes.csv,
// https://github.com/alibaba/clusterdata) into a trace. Each pod gets the events created
// (at creation_time), scheduled (at scheduled_time, if there is one), phase (pod_phase,
// unless it is Pending) and deleted (at deletion_time).
//
// Values that the files do not have are derived by these rules:
//   - Pods with the same requests (qos, CPU, memory, GPUs) count as one application. The
//     namespace is a hash of the requests and the seed, modulo Namespaces.
//   - The node is drawn, by the seed and the pod's name, among the nodes whose capacity
//     fits the pod by itself; other pods on the node do not count.
//   - Only the last phase is known, not its time. Running comes a second after
//     scheduled. Succeeded and Failed come a second before deleted, or halfway between
//     scheduled and deleted if they are closer than two seconds (for a pod that was
//     never scheduled, between created and deleted).
//
// A broken row is an error that names file, line, column and the allowed values, for up to
// 20 rows, as RowErrors; with SkipBadRows it is counted. A file that cannot be read, that
// lacks a column, or that has no usable row is always an error. Files may be compressed by
// gzip; memory is bounded as in ReadTrace.
func ImportCSV(pods, nodes CSVFile, options ImportOptions) (*PodTrace, ImportReport, error) {
	report := ImportReport{Skipped: map[string]int{}}
	if options.Compress == 0 {
		options.Compress = 1
	}
	if options.Seed == 0 {
		options.Seed = DefaultSeed
	}
	if options.Namespaces == 0 {
		options.Namespaces = DefaultTraceNamespaces
	}
	if !(options.Compress >= 1) || math.IsInf(options.Compress, 0) || options.Namespaces < 0 {
		return nil, report, fmt.Errorf("import: compress %v, namespaces %d: use a factor of 1 or more, and 1 namespace or more", options.Compress, options.Namespaces)
	}
	im := &importer{options: options, report: &report, fits: map[string][]string{}}
	if err := im.readNodes(nodes); err != nil {
		return nil, report, err
	}
	if err := im.readPods(pods); err != nil {
		return nil, report, err
	}
	if len(im.bad) > 0 {
		return nil, report, im.bad
	}
	if report.Nodes == 0 || report.Pods == 0 {
		return nil, report, fmt.Errorf("import: %d pods in the %d rows of %s, %d nodes in the %d rows of %s: a replay needs at least one of each; use files with rows below the header", report.Pods, report.PodRows, pods.Name, report.Nodes, report.NodeRows, nodes.Name)
	}
	t := im.trace()
	t.Source = fmt.Sprintf("imported from %s and %s", pods.Name, nodes.Name)
	if err := t.Validate(); err != nil {
		return nil, report, fmt.Errorf("import %s: %w", pods.Name, err)
	}
	return t, report, nil
}

// RowError is a broken row.
type RowError struct {
	File    string
	Line    int
	Column  string // "" if the row as a whole is broken
	Value   string
	Problem string // the same for all rows with this problem
	Allowed string
}

// Error gives "FILE:LINE: COLUMN: "VALUE" is PROBLEM: use ALLOWED".
func (e *RowError) Error() string {
	return fmt.Sprintf("%s:%d: %s: %q: %s: use %s", e.File, e.Line, e.Column, e.Value, e.Problem, e.Allowed)
}

// RowErrors are all broken rows of an import.
type RowErrors []*RowError

// Error lists the first rows and the number of the others.
func (e RowErrors) Error() string {
	var lines []string
	for _, r := range e[:min(len(e), maxRowErrors)] {
		lines = append(lines, r.Error())
	}
	if more := len(e) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more broken rows", more))
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the rows.
func (e RowErrors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, r := range e {
		errs[i] = r
	}
	return errs
}

type importer struct {
	options ImportOptions
	report  *ImportReport
	bad     RowErrors
	nodes   []csvNode
	pods    []csvPod
	names   map[string]int      // the line of each pod's name
	fits    map[string][]string // nodes by the pod's requests
}

type csvNode struct {
	name, model       string
	cpu, memory, gpus int64
}

type csvPod struct {
	TracePod
	phase                       corev1.PodPhase
	created, scheduled, deleted float64 // seconds; scheduled is negative if it never was
	node                        string
}

// reject records a broken row.
func (im *importer) reject(err error) error {
	var row *RowError
	switch {
	case !errors.As(err, &row):
		return err
	case im.options.SkipBadRows:
		im.report.Skipped[fmt.Sprintf("%s: %s: %s", row.File, row.Column, row.Problem)]++
	default:
		im.bad = append(im.bad, row)
	}
	return nil
}

// place derives namespace and node by the rules of ImportCSV. It returns false if the pod
// fits on no node.
func (im *importer) place(p *csvPod, models string) bool {
	shape := p.shape()
	p.Namespace = fmt.Sprintf("ns-%02d", im.hash(shape)%uint64(im.options.Namespaces))
	if p.scheduled < 0 {
		return true
	}
	wants := shape + "/" + models
	candidates, known := im.fits[wants]
	if !known {
		for _, n := range im.nodes {
			fits := n.cpu >= p.CPUMilli && n.memory >= p.MemoryMiB && n.gpus >= p.GPUs
			if fits && (models == "" || slices.Contains(strings.Split(models, "|"), n.model)) {
				candidates = append(candidates, n.name)
			}
		}
		im.fits[wants] = candidates
	}
	if len(candidates) == 0 {
		return false
	}
	rng := rand.New(rand.NewPCG(im.options.Seed, im.hash(p.Name)))
	p.node = candidates[rng.IntN(len(candidates))]
	return true
}

func (im *importer) hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d/%s", im.options.Seed, text) // never fails
	return h.Sum64()
}

// trace makes the events of the rows, ordered by time.
func (im *importer) trace() *PodTrace {
	end := 0.0
	for _, p := range im.pods {
		end = max(end, p.deleted)
	}
	slices.SortStableFunc(im.pods, func(a, b csvPod) int { return cmp.Compare(a.created, b.created) })
	t := &PodTrace{Seed: im.options.Seed, Compress: im.options.Compress}
	for n, p := range im.pods {
		t.Pods = append(t.Pods, p.TracePod)
		add := func(at float64, e PodEvent) {
			e.At, e.Pod = time.Duration(at/im.options.Compress*float64(time.Second)), n
			t.Events = append(t.Events, e)
		}
		add(p.created, PodEvent{Type: TraceCreated})
		begun := p.created
		if p.scheduled >= 0 {
			begun = p.scheduled
			add(p.scheduled, PodEvent{Type: TraceScheduled, Node: p.node})
		} else {
			im.report.NeverScheduled++
		}
		within := min(1, (p.deleted-begun)/2)
		switch p.phase {
		case corev1.PodRunning:
			add(begun+within, PodEvent{Type: TracePhase, Phase: p.phase})
		case corev1.PodSucceeded, corev1.PodFailed:
			add(p.deleted-within, PodEvent{Type: TracePhase, Phase: p.phase})
		}
		if p.deleted == p.created {
			im.report.Instant++
		}
		if p.deleted == end && !im.options.DeleteAtEnd {
			im.report.AliveAtEnd++
			continue
		}
		add(p.deleted, PodEvent{Type: TraceDeleted})
	}
	// Stable: the events of one pod stay in the order of its life, and pods
	// created in the same instant in the order of their numbers.
	slices.SortStableFunc(t.Events, func(a, b PodEvent) int { return cmp.Compare(a.At, b.At) })
	return t
}
