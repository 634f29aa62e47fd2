package report

// The history as Apache Otava reads it: one CSV file for each workload, and otava.yaml, which
// names its columns. After Otava's docs/CSV.md, create_csv_test_config in otava/test_config.py
// and CsvImporter in otava/importer.py (github.com/apache/otava, seen at 0.8.0):
//
//   - A test has a file, a time column, attributes (copied as text) and metrics.
//   - A metric has a column, a direction (1: more is better, -1: less is better) and a scale.
//   - Each row must have a number in each metric's column; there is no sign for a missing one.
//     So a file has the metrics that the same runs have.
//   - Files are looked for from where otava is started, times are read by Python's dateparser,
//     and a column "branch" would choose rows, so there is none.

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/informerbench/informerbench/history"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// OtavaFile is the configuration that WriteOtava writes.
const OtavaFile = "otava.yaml"

const otavaHead = "# Written by benchrun history --format otava; it may be overwritten.\n"

type otavaConfig struct {
	Tests  map[string]otavaTest `yaml:"tests"`
	Groups map[string][]string  `yaml:"test_groups"`
}

type otavaTest struct {
	Type       string                 `yaml:"type"`
	File       string                 `yaml:"file"`
	Time       string                 `yaml:"time_column"`
	Attributes []string               `yaml:"attributes"`
	Metrics    map[string]otavaMetric `yaml:"metrics"`
}

type otavaMetric struct {
	Column    string `yaml:"column"`
	Direction int    `yaml:"direction"`
	Scale     int    `yaml:"scale"`
}

// WriteOtava writes the series with enough runs for a change into dir, which it makes, and
// returns the names of the tests. An otava.yaml of somebody else is an error.
func WriteOtava(dir string, given *history.History) (tests []string, err error) {
	h := clean(given)
	config := filepath.Join(dir, OtavaFile)
	switch old, err := os.ReadFile(config); {
	case err == nil && !bytes.HasPrefix(old, []byte(otavaHead)):
		return nil, fmt.Errorf("%s exists and is not from benchrun history; give another folder by -o", config)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	out := otavaConfig{Tests: map[string]otavaTest{}, Groups: map[string][]string{}}
	files := map[string][]byte{}
	for _, group := range sameRuns(h) {
		name := otavaName(h, group[0], out.Tests)
		test := otavaTest{Type: "csv", File: name + ".csv", Time: "time", Attributes: []string{"commit", "run", "go"}, Metrics: map[string]otavaMetric{}}
		var text bytes.Buffer
		if err := writeOtavaCSV(&text, h, group, &test); err != nil {
			return nil, err
		}
		out.Tests[name], files[test.File] = test, text.Bytes()
		tests = append(tests, name)
	}
	if len(tests) == 0 {
		return nil, fmt.Errorf("no number has the %d runs in which a change can be found: nothing to export", stats.FewestRuns)
	}
	out.Groups["benchrun"] = tests
	text, err := yaml.Marshal(out)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for name, b := range files {
		if err := record.WriteFile(filepath.Join(dir, name), b); err != nil {
			return nil, err
		}
	}
	return tests, record.WriteFile(config, append([]byte(otavaHead), text...))
}

// sameRuns groups the series of a workload that have the same runs.
func sameRuns(h *history.History) (out [][]*history.Series) {
	at := map[string]int{}
	for _, s := range h.Series {
		if len(s.Points) < stats.FewestRuns {
			continue
		}
		key := fmt.Sprintf("%q %q %d", s.Name.Component, s.Name.Workload, s.Name.Procs)
		for _, p := range s.Points {
			key += fmt.Sprintf(" %d", p.Run)
		}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key], out = i, append(out, nil)
		}
		out[i] = append(out[i], s)
	}
	return out
}

var notInOtavaNames = regexp.MustCompile(`[^A-Za-z0-9=]+`)

// otavaName is a test's name, which is a file's too.
func otavaName(h *history.History, s *history.Series, used map[string]otavaTest) string {
	name := strings.Trim(notInOtavaNames.ReplaceAllString(s.Name.Component+"."+s.Name.Workload, "-"), "-")
	name = name[:min(len(name), 100)]
	if len(h.Machines) > 1 {
		name += fmt.Sprintf("-machine%d", s.Machine+1)
	}
	taken := func(name string) bool {
		for other := range used {
			if strings.EqualFold(other, name) { // as files on Windows
				return true
			}
		}
		return false
	}
	for n, base := 2, name; taken(name); n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	return name
}

func writeOtavaCSV(text *bytes.Buffer, h *history.History, group []*history.Series, test *otavaTest) error {
	w := csv.NewWriter(text)
	header := append([]string{test.Time}, test.Attributes...)
	for _, s := range group {
		column := s.Name.Series + "/" + s.Name.Impl + "/" + s.Name.Metric
		for n, base := 2, column; slices.Contains(header, column); n++ {
			column = base + "-" + strconv.Itoa(n)
		}
		header = append(header, column)
		direction := -1
		if metrics.Of(s.Name.Metric).Better == metrics.HigherIsBetter {
			direction = 1
		}
		test.Metrics[column] = otavaMetric{Column: column, Direction: direction, Scale: 1}
	}
	if err := w.Write(header); err != nil {
		return err
	}
	for i, p := range group[0].Points {
		r := h.Runs[p.Run]
		row := []string{r.Started.Format(time.RFC3339), r.Revision, r.Path, r.Go}
		for _, s := range group {
			row = append(row, strconv.FormatFloat(s.Points[i].Value, 'g', -1, 64))
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}
