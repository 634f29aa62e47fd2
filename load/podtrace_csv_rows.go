package load

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// nodeFields are the columns of the nodes, which are all required.
var nodeFields = []PodField{{"sn", true, ""}, {"cpu_milli", true, ""}, {"memory_mib", true, ""},
	{"gpu", true, ""}, {"model", true, ""}}

var (
	qosValues   = []string{"LS", "BE", "Burstable", "Guaranteed", "BestEffort"}
	phaseValues = []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded,
		corev1.PodFailed}

	// noTime are the spellings of a time that is not known.
	noTime = []string{"", "nan", "null"}
	// timeLayouts are those of times that are not numbers.
	timeLayouts = []string{time.RFC3339, time.DateTime}
)

// The largest numbers that fit a replay: time.Duration ends at 292 years, an int64 of bytes
// at 2^43 MiB. Larger times than maxTime, the year 5138, are milliseconds or less.
const (
	maxSeconds = 1e9
	maxTime    = 1e11
	maxAmount  = 1 << 40
)

func (im *importer) readNodes(file CSVFile) error {
	return im.readCSV(file, nodeFields, nil, &im.report.NodeRows, func(r *row) {
		n := csvNode{name: r.text("sn"), cpu: r.amount("cpu_milli"), memory: r.amount("memory_mib"),
			gpus: r.amount("gpu"), model: r.value("model")}
		if r.err == nil {
			im.nodes = append(im.nodes, n)
			im.report.Nodes++
		}
	})
}

func (im *importer) readPods(file CSVFile) error {
	return im.readCSV(file, PodFields(), im.options.Columns, &im.report.PodRows, func(r *row) {
		p := csvPod{
			TracePod: TracePod{
				Name: r.text(fieldName), CPUMilli: r.amount(fieldCPU), MemoryMiB: r.amount(fieldMemory),
				GPUs: r.amount(fieldGPUs), GPUMilli: r.amount(fieldGPUMilli),
				QOS: oneOf(r, fieldQOS, qosValues),
			},
			phase:   oneOf(r, fieldPhase, phaseValues),
			created: r.time(fieldCreated, always), deleted: r.time(fieldDeleted, never),
			scheduled: r.time(fieldScheduled, never),
			line:      r.line,
		}
		if r.has(fieldNamespace) {
			p.Namespace = r.text(fieldNamespace)
		}
		if unsaid := !r.has(fieldScheduled) || p.created == always && p.scheduled == never; unsaid &&
			p.phase != corev1.PodPending {
			p.scheduled = p.created
		}
		if !r.has(fieldPhase) {
			p.phase = corev1.PodPending
			if p.scheduled != never {
				p.phase = corev1.PodRunning
			}
		}
		ran := p.phase == corev1.PodRunning || p.phase == corev1.PodSucceeded
		switch {
		case r.err != nil:
			return
		case p.deleted < p.created:
			r.fail(fieldDeleted, "before the creation", "a time from creation_time on")
		case p.deleted < 0:
			r.fail(fieldDeleted, "before the trace's start", "a time from 0 on")
		case p.scheduled != never && (p.scheduled < p.created || p.scheduled > p.deleted):
			r.fail(fieldScheduled, "outside of the pod's life",
				"a time from creation_time to deletion_time, or nothing")
		case p.scheduled == never && ran:
			r.fail(fieldScheduled, "missing for a pod that ran",
				"a time, or the pod_phase Pending or Failed")
		case !im.place(&p, r):
			r.fail(fieldName, "the pod fits on no node",
				"requests within the capacity of a node, or a nodes file that has one")
		default:
			im.pods = append(im.pods, p)
			im.report.Pods++
		}
	})
}

// readCSV calls add for each data row and counts the rows. It ends early only for errors
// that make the rest unreadable.
func (im *importer) readCSV(file CSVFile, fields []PodField, given map[string]Column, rows *int,
	add func(*row)) error {
	text, err := unzipped(file.Name, file.Reader)
	if err != nil {
		return err
	}
	buffered := bufio.NewReader(text)
	if mark, _ := buffered.Peek(2); slices.Contains([]string{"\xff\xfe", "\xfe\xff"}, string(mark)) {
		return fmt.Errorf("%s is UTF-16, as some spreadsheets save text: save it as UTF-8", file.Name)
	}
	in := csv.NewReader(buffered)
	in.FieldsPerRecord = -1 // checked below, where the error can name the row
	text.line = maxTraceLine
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: the file is empty: use one that begins with the names of its columns",
			file.Name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff") // spreadsheets mark UTF-8 with it
	for i, name := range header {
		header[i] = strings.TrimSpace(name)
	}
	if i := strings.IndexAny(header[0], ";\t|"); len(header) == 1 && i >= 0 {
		return fmt.Errorf("%s:1: %q stands between the columns: save it with commas", file.Name,
			header[0][i])
	}
	at, err := places(file.Name, header, fields, given)
	if err != nil {
		return err
	}
	for {
		text.line = maxTraceLine
		values, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		*rows++
		r := &row{file: file.Name, values: values, header: header, places: at}
		var syntax *csv.ParseError
		switch {
		case errors.As(err, &syntax):
			r.line = syntax.Line
			r.fail("row", "no CSV: "+syntax.Err.Error(),
				"fields between commas, with quotes doubled inside of quotes")
		case err != nil:
			return fmt.Errorf("%s: data row %d: %w", file.Name, *rows, err)
		default:
			r.line, _ = in.FieldPos(0)
			if len(values) != len(header) {
				r.fail("row", fmt.Sprintf("%d fields", len(values)),
					fmt.Sprintf("%d, as in the header", len(header)))
			} else {
				add(r)
			}
		}
		if r.err != nil {
			im.reject(r.err, r.bad)
		}
	}
}

// row parses the fields of a row and keeps the first mistake.
type row struct {
	file           string
	line           int
	values, header []string
	places         map[string]place
	err            *FieldError
	bad            string // the value of its field, or the whole row
}

// fail keeps a mistake in a field, under the name of its column.
func (r *row) fail(field, problem, allowed string) {
	if r.err != nil {
		return
	}
	r.err = &FieldError{File: r.file, Line: r.line, Path: field, Problem: problem, Allowed: allowed}
	if at, ok := r.places[field]; !ok {
		r.bad = strings.Join(r.values, ",")
	} else if at.column >= 0 {
		r.err.Path, r.bad = r.header[at.column], r.value(field)
	}
}

// has reports whether the file has a column of the field.
func (r *row) has(field string) bool { return r.places[field].column >= 0 }

// value is the field's text, "" where the file has no such column.
func (r *row) value(field string) string {
	if !r.has(field) {
		return ""
	}
	return strings.TrimSpace(r.values[r.places[field].column])
}

// text is a part of an object's key.
func (r *row) text(field string) string {
	if r.value(field) == "" {
		r.fail(field, "missing", "a name")
	}
	if strings.Contains(r.value(field), "/") {
		r.fail(field, "a name with a slash", "a name without /")
	}
	return r.value(field)
}

// amount is 0 where the file has no such column.
func (r *row) amount(field string) int64 {
	if !r.has(field) {
		return 0
	}
	n, err := strconv.ParseFloat(r.value(field), 64)
	n = math.Round(n * r.places[field].factor)
	if err != nil || !(n >= 0 && n <= maxAmount) {
		r.fail(field, "not a number in range", fmt.Sprintf("0 to %d", int64(maxAmount)))
		return 0
	}
	return int64(n)
}

// Times that are not in the file.
var (
	always = math.Inf(-1) // before all others
	never  = math.Inf(1)
)

// time is in seconds; unknown where the file has none.
func (r *row) time(field string, unknown float64) float64 {
	text := r.value(field)
	if slices.Contains(noTime, strings.ToLower(text)) {
		return unknown
	}
	s, err := strconv.ParseFloat(text, 64)
	s *= r.places[field].factor
	for _, layout := range timeLayouts {
		if err == nil {
			break
		}
		var at time.Time
		if at, err = time.Parse(layout, text); err == nil {
			s = float64(at.Unix()) + float64(at.Nanosecond())/1e9
		}
	}
	if err != nil || !(math.Abs(s) <= maxTime) {
		r.fail(field, "not a time in range",
			fmt.Sprintf("seconds such as 86400 or 1700000000.5, to %.0e, a time such as "+
				"2026-01-31T15:04:05Z, or nothing; COLUMN*0.001 in --map reads milliseconds", maxTime))
	}
	return s
}

// oneOf is "" where the file has no such column.
func oneOf[S ~string](r *row, field string, values []S) S {
	v := S(r.value(field))
	if r.has(field) && !slices.Contains(values, v) {
		r.fail(field, "not one of the values", "one of "+join(values, asString))
	}
	return v
}
