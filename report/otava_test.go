package report

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/informerbench/informerbench/history"
)

// otavaSeries is what Otava has of a test after its import.
type otavaSeries struct {
	times      []time.Time
	attributes map[string][]string
	data       map[string][]float64
	directions map[string]int
}

// importOtava follows the rules of Otava's importer, written anew from its source
// (load_tests and load_test_groups in otava/config.py, create_csv_test_config in
// otava/test_config.py, CsvImporter.fetch_data in otava/importer.py): what raises an error
// there is an error here.
func importOtava(dir string) (map[string]otavaSeries, map[string][]string, error) {
	b, err := os.ReadFile(filepath.Join(dir, OtavaFile))
	if err != nil {
		return nil, nil, err
	}
	var config struct {
		Tests map[string]struct {
			Type       string   `yaml:"type"`
			File       string   `yaml:"file"`
			Time       string   `yaml:"time_column"`
			Attributes []string `yaml:"attributes"`
			Metrics    map[string]struct {
				Column    string  `yaml:"column"`
				Direction int     `yaml:"direction"`
				Scale     float64 `yaml:"scale"`
			} `yaml:"metrics"`
		} `yaml:"tests"`
		Groups map[string][]string `yaml:"test_groups"`
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(&config); err != nil {
		return nil, nil, err
	}
	out := map[string]otavaSeries{}
	for name, test := range config.Tests {
		if test.Type != "csv" {
			return nil, nil, fmt.Errorf("unknown test type %s for test %s", test.Type, name)
		}
		f, err := os.Open(filepath.Join(dir, test.File))
		if err != nil {
			return nil, nil, err
		}
		rows, err := csv.NewReader(f).ReadAll()
		err = errors.Join(err, f.Close())
		if err == nil && len(rows) == 0 {
			err = errors.New("no header")
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", test.File, err)
		}
		headers := rows[0]
		column := func(name string) int {
			i := slices.Index(headers, name)
			if i < 0 {
				err = errors.Join(err, fmt.Errorf("column not found %s", name))
			}
			return i
		}
		s := otavaSeries{attributes: map[string][]string{}, data: map[string][]float64{}, directions: map[string]int{}}
		at := column(test.Time)
		for _, row := range rows[1:] {
			when, e := time.Parse(time.RFC3339, row[at])
			err = errors.Join(err, e)
			s.times = append(s.times, when)
			for _, a := range test.Attributes {
				s.attributes[a] = append(s.attributes[a], row[column(a)])
			}
			for metric, m := range test.Metrics {
				v, e := strconv.ParseFloat(row[column(m.Column)], 64)
				err = errors.Join(err, e)
				s.data[metric] = append(s.data[metric], m.Scale*v)
				s.directions[metric] = m.Direction
			}
			if err != nil {
				return nil, nil, err
			}
		}
		if slices.Contains(headers, "branch") {
			return nil, nil, errors.New("a branch column chooses rows")
		}
		out[name] = s
	}
	for group, names := range config.Groups {
		for _, name := range names {
			if _, ok := out[name]; !ok {
				return nil, nil, fmt.Errorf("test %s referenced by group %s not found", name, group)
			}
		}
	}
	return out, config.Groups, nil
}

func TestOtavaReadsIt(t *testing.T) {
	t.Parallel()
	h := aHistory(t, "mine", nil)
	dir := filepath.Join(t.TempDir(), "otava")
	tests, err := WriteOtava(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	read, groups, err := importOtava(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(tests) != 1 || tests[0] != "store-store-ops-objects=10-machine2" || !slices.Equal(groups["benchrun"], tests) {
		t.Errorf("tests %q in groups %q", tests, groups)
	}
	got := read[tests[0]]
	metrics := 0
	for _, s := range h.Series {
		if len(s.Points) < 6 {
			continue
		}
		metrics++
		column := s.Name.Series + "/" + s.Name.Impl + "/" + s.Name.Metric
		values := got.data[column]
		if len(values) != len(s.Points) {
			t.Fatalf("%s: %d values, want %d", column, len(values), len(s.Points))
		}
		for i, p := range s.Points {
			if math.Abs(values[i]-p.Value) > 1e-12*p.Value || !got.times[i].Equal(h.Runs[p.Run].Started) || got.attributes["commit"][i] != h.Runs[p.Run].Revision || got.attributes["run"][i] != h.Runs[p.Run].Path {
				t.Fatalf("%s, row %d: not that of the run", column, i)
			}
		}
		want := -1
		if strings.HasSuffix(column, "achieved-%") {
			want = 1
		}
		if got.directions[column] != want {
			t.Errorf("%s: direction %d, want %d", column, got.directions[column], want)
		}
	}
	if metrics != len(got.data) || metrics < 9 {
		t.Errorf("%d metrics, want %d", len(got.data), metrics)
	}
}

func TestOtavaKeepsWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := aHistory(t, "mine", nil)
	if _, err := WriteOtava(dir, h); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteOtava(dir, h); err != nil {
		t.Errorf("a second time: %v", err)
	}
	mine := filepath.Join(dir, OtavaFile)
	if err := os.WriteFile(mine, []byte("tests: {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteOtava(dir, h); err == nil || !strings.Contains(err.Error(), "another folder") {
		t.Errorf("over a configuration of somebody's own: %v", err)
	}
	if _, err := WriteOtava(t.TempDir(), &history.History{}); err == nil || !strings.Contains(err.Error(), "nothing to export") {
		t.Errorf("without series: %v", err)
	}
}
