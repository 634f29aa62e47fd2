package load

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

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
	// Columns says in which columns of the pods the fields of PodFields are; a field that
	// it does not name is read from the column of its own name. See ParseColumns.
	Columns map[string]Column
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
	// AliveAtStart counts the pods that were alive when the recording began.
	AliveAtStart int
	// NeverScheduled counts the pods that were never scheduled; they have no node.
	NeverScheduled int
	// AliveAtEnd counts the pods that were alive when the recording ended.
	AliveAtEnd int
	// Instant counts the pods that were deleted in the second of their creation.
	Instant int
}

// ImportCSV turns pod lifecycles, a row for each pod, into a trace. PodFields lists what is
// read from a row: a name and a creation_time at least. The fields have the names of the
// Alibaba cluster trace cluster-trace-gpu-v2023 (openb_pods.csv and openb_nodes.csv,
// https://github.com/alibaba/clusterdata); options.Columns maps those of any other file. Each
// pod gets the events created (at creation_time), scheduled (at scheduled_time, if there is
// one), phase (pod_phase, unless it is Pending) and deleted (at deletion_time).
//
// Times are seconds from any moment, or dates such as 2026-01-31T15:04:05Z. The trace starts
// at the first time that is not negative. The pods that are alive then, because their
// creation_time is empty, negative or that first time, are there at the start. A pod whose
// deletion_time is empty is alive at the end; see also ImportOptions.DeleteAtEnd.
//
// Values that the files do not have are derived by these rules:
//   - Pods of the same application share a namespace, which is a hash of the application and
//     the seed, modulo Namespaces. Without a column of it, pods with the same requests (qos,
//     CPU, memory, GPUs) are one application; without any of these columns either, each pod
//     is one.
//   - The node is drawn, by the seed and the pod's name, among the nodes whose capacity
//     fits the pod by itself; other pods on the node do not count. Without a file of nodes
//     (nodes.Reader is nil) there is a node for each DefaultPerNode of the pods that live at
//     once.
//   - Only the last phase is known, not its time. Running comes a second after
//     scheduled. Succeeded and Failed come a second before deleted, or halfway between
//     scheduled and deleted if they are closer than two seconds (for a pod that was
//     never scheduled, between created and deleted).
//
// A broken row is an error that names file, line, column and the allowed values, for up to
// 20 rows, as FieldErrors; with SkipBadRows it is counted. A file that cannot be read, that
// lacks a column, or that has no usable row is always an error. Files may be compressed by
// gzip.
func ImportCSV(pods, nodes CSVFile, options ImportOptions) (*PodTrace, ImportReport, error) {
	report := ImportReport{Skipped: map[string]int{}}
	options.Compress = cmp.Or(options.Compress, 1)
	options.Seed = cmp.Or(options.Seed, DefaultSeed)
	options.Namespaces = cmp.Or(options.Namespaces, DefaultTraceNamespaces)
	if !(options.Compress >= 1) || math.IsInf(options.Compress, 0) || options.Namespaces < 0 {
		return nil, report, fmt.Errorf(
			"import: --compress %v, --namespaces %d: use a factor of 1 or more, and 1 namespace or more",
			options.Compress, options.Namespaces)
	}
	im := &importer{options: options, report: &report, drawn: nodes.Reader == nil}
	source := "imported from " + pods.Name
	if !im.drawn {
		source += " and " + nodes.Name
		if err := im.readNodes(nodes); err != nil {
			return nil, report, err
		}
	}
	if err := im.readPods(pods); err != nil {
		return nil, report, err
	}
	of := im.recording()
	im.rejectOverlaps(pods.Name, of)
	if len(im.bad) > 0 {
		slices.SortStableFunc(im.bad, func(a, b *FieldError) int { return cmp.Compare(a.Line, b.Line) })
		return nil, report, im.bad
	}
	if report.Pods == 0 || report.Nodes == 0 && !im.drawn {
		nodesRead := ""
		if !im.drawn {
			nodesRead = fmt.Sprintf(", %d nodes in the %d rows of %s", report.Nodes, report.NodeRows,
				nodes.Name)
		}
		return nil, report, fmt.Errorf(
			"import: %d pods in the %d rows of %s%s: a replay needs at least one of each; use files with "+
				"rows below the header", report.Pods, report.PodRows, pods.Name, nodesRead)
	}
	t, err := im.trace(of)
	if err != nil {
		return nil, report, fmt.Errorf("%s: %w", pods.Name, err)
	}
	t.Source = source
	if err := t.Validate(); err != nil {
		return nil, report, fmt.Errorf("import %s: %w", pods.Name, err)
	}
	return t, report, nil
}

type importer struct {
	options ImportOptions
	report  *ImportReport
	bad     FieldErrors
	nodes   []csvNode
	pods    []csvPod
	drawn   bool // there is no file of nodes
}

type csvNode struct {
	name, model       string
	cpu, memory, gpus int64
}

type csvPod struct {
	TracePod
	phase                       corev1.PodPhase
	created, scheduled, deleted float64 // seconds, always or never
	node                        string
	line                        int
}

// reject records a broken row, with the value of its field.
func (im *importer) reject(e *FieldError, value string) {
	if im.options.SkipBadRows {
		im.report.Skipped[fmt.Sprintf("%s: %s: %s", e.File, e.Path, e.Problem)]++
		return
	}
	e.Problem = fmt.Sprintf("%q: %s", value, e.Problem)
	im.bad = append(im.bad, e)
}

// place derives namespace and node by the rules of ImportCSV. It returns false if the pod
// fits on no node.
func (im *importer) place(p *csvPod, r *row) bool {
	if p.Namespace == "" {
		application := p.shape()
		switch {
		case r.has(fieldApplication):
			application = r.value(fieldApplication)
		case !slices.ContainsFunc([]string{fieldQOS, fieldCPU, fieldMemory, fieldGPUs, fieldGPUMilli},
			r.has):
			application = p.Name
		}
		p.Namespace = fmt.Sprintf("ns-%02d", im.hash(application)%uint64(im.options.Namespaces))
	}
	if p.scheduled == never {
		return true
	}
	if p.node = r.value(fieldNode); p.node != "" || im.drawn {
		return true
	}
	var candidates []string
	models := r.value(fieldGPUSpec)
	wanted := strings.Split(models, "|")
	for _, n := range im.nodes {
		fits := n.cpu >= p.CPUMilli && n.memory >= p.MemoryMiB && n.gpus >= p.GPUs
		if fits && (models == "" || slices.Contains(wanted, n.model)) {
			candidates = append(candidates, n.name)
		}
	}
	if len(candidates) == 0 {
		return false
	}
	p.node = candidates[im.draw(p.Name, len(candidates))]
	return true
}

// draw chooses one of n for a pod.
func (im *importer) draw(pod string, n int) int {
	return rand.New(rand.NewPCG(im.options.Seed, im.hash(pod))).IntN(n)
}

func (im *importer) hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d/%s", im.options.Seed, text) // never fails
	return h.Sum64()
}
