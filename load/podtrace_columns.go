package load

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Column is a column of a CSV file.
type Column struct {
	// Name is the column's name in the header; "" means that the file has none.
	Name string
	// Factor multiplies the numbers of the column; 0 means 1.
	Factor float64
}

// PodField is a value that ImportCSV reads from a row of the pods. A field is read from the
// column of its own name, or from the column that ImportOptions.Columns names.
type PodField struct {
	Name     string
	Required bool // a file without such a column is refused
	About    string
}

// PodFields lists the fields of a pod's row, in the order in which errors name them.
func PodFields() []PodField {
	return []PodField{
		{fieldName, true, "the pod's name"},
		{fieldCreated, true, "when it was created; empty: before the trace's start"},
		{fieldScheduled, false, "when it got its node; empty: never, or before the trace's start as " +
			"creation_time is. Without the column: when it was created"},
		{fieldDeleted, false, "when it was deleted; empty, or without the column: not before the " +
			"trace's end"},
		{fieldPhase, false, "its last phase: " + join(phaseValues, asString) +
			". Without the column: Running where it was scheduled"},
		{fieldNamespace, false, "its namespace. Without the column: a hash of the application"},
		{fieldApplication, false, "pods of the same one share a namespace. Without the column: pods " +
			"with the same requests"},
		{fieldNode, false, "its node. Without the column: drawn"},
		{fieldCPU, false, "requested CPU in thousandths of a core"},
		{fieldMemory, false, "requested memory in MiB"},
		{fieldGPUs, false, "requested GPUs"},
		{fieldGPUMilli, false, "thousandths of each GPU"},
		{fieldGPUSpec, false, "models of GPUs that it accepts, A|B"},
		{fieldQOS, false, "its class: " + strings.Join(qosValues, ", ")},
	}
}

const (
	fieldName        = "name"
	fieldCreated     = "creation_time"
	fieldScheduled   = "scheduled_time"
	fieldDeleted     = "deletion_time"
	fieldPhase       = "pod_phase"
	fieldNamespace   = "namespace"
	fieldApplication = "application"
	fieldNode        = "node"
	fieldCPU         = "cpu_milli"
	fieldMemory      = "memory_mib"
	fieldGPUs        = "num_gpu"
	fieldGPUMilli    = "gpu_milli"
	fieldGPUSpec     = "gpu_spec"
	fieldQOS         = "qos"
)

// ErrColumns is wrapped by the errors of ParseColumns.
var ErrColumns = errors.New(
	"want FIELD=COLUMN, such as name=instance_sn; FIELD=COLUMN*FACTOR multiplies its numbers, " +
		"FIELD= reads no column")

// ParseColumns reads FIELD=COLUMN, FIELD=COLUMN*FACTOR and FIELD= (no column has the field),
// for ImportOptions.Columns. Errors wrap ErrColumns and name the fields.
func ParseColumns(texts []string) (map[string]Column, error) {
	out := map[string]Column{}
	for _, text := range texts {
		field, column, ok := strings.Cut(text, "=")
		field, column = strings.TrimSpace(field), strings.TrimSpace(column)
		if !ok {
			return nil, fmt.Errorf("%q: %w", text, ErrColumns)
		}
		if err := knownField(field); err != nil {
			return nil, fmt.Errorf("%q: %w; %w", text, err, ErrColumns)
		}
		if _, twice := out[field]; twice {
			return nil, fmt.Errorf("%q: the field %s is given twice; %w", text, field, ErrColumns)
		}
		c := Column{Name: column}
		if star := strings.LastIndex(column, "*"); star >= 0 {
			factor, err := strconv.ParseFloat(strings.TrimSpace(column[star+1:]), 64)
			if err != nil || !(factor > 0) || math.IsInf(factor, 0) {
				return nil, fmt.Errorf("%q: the factor behind * is not a number above 0; %w", text, ErrColumns)
			}
			c = Column{strings.TrimSpace(column[:star]), factor}
		}
		out[field] = c
	}
	return out, nil
}

func fieldNames() []string {
	var names []string
	for _, f := range PodFields() {
		names = append(names, f.Name)
	}
	return names
}

func knownField(name string) error {
	if have := fieldNames(); !slices.Contains(have, name) {
		return fmt.Errorf("unknown field %q: have %s", name, strings.Join(have, ", "))
	}
	return nil
}

// place is where a field stands in each row.
type place struct {
	column int // -1: nowhere
	factor float64
}

// places finds the columns of the fields. given replaces the fields' own names.
func places(file string, header []string, fields []PodField,
	given map[string]Column) (map[string]place, error) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := knownField(name); err != nil {
			return nil, err
		}
	}
	out := map[string]place{}
	for _, f := range fields {
		wanted, chosen := given[f.Name]
		if !chosen {
			wanted.Name = f.Name
		}
		at := place{slices.Index(header, wanted.Name), cmp.Or(max(wanted.Factor, 0), 1)}
		if wanted.Name == "" {
			at.column = -1
		}
		switch {
		case at.column < 0 && wanted.Name != "" && chosen:
			return nil, fmt.Errorf("%s:1: there is no column %q for %s: use one of %s", file, wanted.Name,
				f.Name, someColumns(header))
		case at.column < 0 && f.Required:
			return nil, fmt.Errorf(
				"%s:1: the column %s is missing: name the one that has it by --map %s=COLUMN, one of %s", file,
				f.Name, f.Name, someColumns(header))
		case at.column >= 0 && slices.Contains(header[at.column+1:], wanted.Name):
			return nil, fmt.Errorf("%s:1: two columns are called %q: rename one", file, wanted.Name)
		}
		out[f.Name] = at
	}
	return out, nil
}

// someColumns lists columns for an error.
func someColumns(header []string) string {
	const most = 40
	if more := len(header) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(header[:most], ", "), more)
	}
	return strings.Join(header, ", ")
}
