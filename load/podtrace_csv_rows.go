package load

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The columns that are read. The files may have others.
var (
	podColumns  = []string{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time", "scheduled_time"}
	nodeColumns = []string{"sn", "cpu_milli", "memory_mib", "gpu", "model"}

	qosValues   = []string{"LS", "BE", "Burstable", "Guaranteed"}
	phaseValues = []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed}
)

// The largest numbers that fit a replay: time.Duration ends at 292 years, an int64 of bytes
// at 2^43 MiB.
const (
	maxSeconds = 1e9
	maxAmount  = 1 << 40
)

func (im *importer) readNodes(file CSVFile) error {
	return im.readCSV(file, nodeColumns, &im.report.NodeRows, func(r *row) {
		n := csvNode{name: r.text("sn"), cpu: r.amount("cpu_milli"), memory: r.amount("memory_mib"), gpus: r.amount("gpu"), model: r.value("model")}
		if r.err == nil {
			im.nodes = append(im.nodes, n)
			im.report.Nodes++
		}
	})
}

func (im *importer) readPods(file CSVFile) error {
	im.names = map[string]int{}
	return im.readCSV(file, podColumns, &im.report.PodRows, func(r *row) {
		p := csvPod{
			TracePod: TracePod{
				Name: r.text("name"), CPUMilli: r.amount("cpu_milli"), MemoryMiB: r.amount("memory_mib"),
				GPUs: r.amount("num_gpu"), GPUMilli: r.amount("gpu_milli"), QOS: oneOf(r, "qos", qosValues),
			},
			phase:   oneOf(r, "pod_phase", phaseValues),
			created: r.seconds("creation_time"), deleted: r.seconds("deletion_time"), scheduled: -1,
		}
		if r.value("scheduled_time") != "" {
			p.scheduled = r.seconds("scheduled_time")
		}
		ran := p.phase == corev1.PodRunning || p.phase == corev1.PodSucceeded
		switch {
		case r.err != nil:
			return
		case im.names[p.Name] != 0:
			r.fail("name", "the name is not unique", fmt.Sprintf("another than on line %d", im.names[p.Name]))
		case p.deleted < p.created:
			r.fail("deletion_time", "before the creation", "a time from creation_time on")
		case p.scheduled >= 0 && (p.scheduled < p.created || p.scheduled > p.deleted):
			r.fail("scheduled_time", "outside of the pod's life", "a time from creation_time to deletion_time, or nothing")
		case p.scheduled < 0 && ran:
			r.fail("scheduled_time", "missing for a pod that ran", "a time, or the pod_phase Pending or Failed")
		case !im.place(&p, r.value("gpu_spec")):
			r.fail("name", "the pod fits on no node", "requests within the capacity of a node, or a nodes file that has one")
		default:
			im.names[p.Name] = r.line
			im.pods = append(im.pods, p)
			im.report.Pods++
		}
	})
}

// readCSV calls add for each data row and counts the rows. It ends early only for errors
// that make the rest unreadable.
func (im *importer) readCSV(file CSVFile, columns []string, rows *int, add func(*row)) error {
	memory := newBudget(file.Reader)
	text, err := unzipped(file.Name, memory)
	if err != nil {
		return err
	}
	in := csv.NewReader(text)
	in.FieldsPerRecord = -1 // checked below, where the error can name the row
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: the file is empty: use one that begins with the columns %s", file.Name, strings.Join(columns, ","))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff") // spreadsheets mark UTF-8 with it
	places := map[string]int{}
	for i, name := range header {
		places[strings.TrimSpace(name)] = i
	}
	for _, c := range columns {
		if _, ok := places[c]; !ok {
			return fmt.Errorf("%s:1: the column %s is missing: use the columns %s", file.Name, c, strings.Join(columns, ","))
		}
	}
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		*rows++
		if err == nil {
			err = memory.charge(int64(len(fields))*elementB + rowB)
		}
		r := &row{file: file.Name, fields: fields, places: places}
		var syntax *csv.ParseError
		switch {
		case errors.As(err, &syntax):
			r.line = syntax.Line
			r.fail("row", "no CSV: "+syntax.Err.Error(), "fields between commas, with quotes doubled inside of quotes")
		case err != nil:
			return fmt.Errorf("%s: data row %d: %w", file.Name, *rows, err)
		default:
			r.line, _ = in.FieldPos(0)
			if len(fields) != len(header) {
				r.fail("row", fmt.Sprintf("%d fields", len(fields)), fmt.Sprintf("%d, as in the header", len(header)))
			} else {
				add(r)
			}
		}
		if r.err != nil {
			if err := im.reject(r.err); err != nil {
				return err
			}
		}
	}
}

// row parses the fields of a row and keeps the first mistake.
type row struct {
	file   string
	line   int
	fields []string
	places map[string]int
	err    *RowError
}

func (r *row) fail(column, problem, allowed string) {
	if r.err == nil {
		value := strings.Join(r.fields, ",")
		if _, ok := r.places[column]; ok {
			value = r.value(column)
		}
		r.err = &RowError{File: r.file, Line: r.line, Column: column, Value: value, Problem: problem, Allowed: allowed}
	}
}

func (r *row) value(column string) string { return strings.TrimSpace(r.fields[r.places[column]]) }

func (r *row) text(column string) string {
	if r.value(column) == "" {
		r.fail(column, "missing", "a name")
	}
	return r.value(column)
}

func (r *row) amount(column string) int64 {
	n, err := strconv.ParseInt(r.value(column), 10, 64)
	if err != nil || n < 0 || n > maxAmount {
		r.fail(column, "not a whole number in range", fmt.Sprintf("0 to %d", int64(maxAmount)))
	}
	return n
}

func (r *row) seconds(column string) float64 {
	s, err := strconv.ParseFloat(r.value(column), 64)
	if err != nil || math.IsNaN(s) || s < 0 || s > maxSeconds {
		r.fail(column, "not a time in range", fmt.Sprintf("seconds from the trace's start, 0 to %.0f", maxSeconds))
	}
	return s
}

func oneOf[S ~string](r *row, column string, values []S) S {
	v := S(r.value(column))
	if !slices.Contains(values, v) {
		r.fail(column, "not one of the values", "one of "+join(values, asString))
	}
	return v
}
