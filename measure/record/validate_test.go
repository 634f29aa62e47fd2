package record

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
)

// written returns the folder and the text of a run that has a bit of everything.
func written(t *testing.T) (dir, text string) {
	t.Helper()
	h := stats.NewHistogram()
	h.Record(time.Millisecond)
	encoded, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	r := sampleRun()
	aa := r.Cells[0]
	aa.Role = AARole
	r.Cells = append(r.Cells, aa)
	r.Finished, r.Complete = time.Unix(2, 0), true
	r.Impls = []Implementation{
		{Component: "store", Name: "clientgo", Verified: VerifyPassed, CasesPassed: 3}}
	dir = filepath.Join(t.TempDir(), "run")
	j, err := CreateJournal(dir, r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		f := sampleFork(r, i)
		f.Started, f.Seconds, f.Process = time.Unix(1, 5), 0.25, map[string]float64{metrics.PeakRSS: 4096}
		f.Series[0].Passes, f.Series[0].Histograms = []float64{39, 41},
			map[string]string{"delay": encoded}
		if err := j.Keep(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, RunFile))
	if err != nil {
		t.Fatal(err)
	}
	return dir, string(b)
}

// edited replaces some text of a sealed file, and seals it again.
func edited(text, before, after string) []byte {
	file := unseal([]byte(strings.Replace(text, before, after, 1)))
	return seal(bytes.TrimSuffix(file.text, []byte("\n")))
}

// Each edit is refused with the file and the whole path of the field.
func TestReadRunNamesThePath(t *testing.T) {
	t.Parallel()
	dir, text := written(t)
	if _, err := ReadRun(dir); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"schema as a string", schemaField, `"schema": "1"`, "schema of type int"},
		{"schema missing", schemaField + ",", ``, "schema: 0"},
		{"time that is none", `"finished": "1970-01-01T00:00:02Z"`, `"finished": "soon"`, `"soon"`},
		{"time as a number", `"started": "1970-01-01T00:00:01.000000005Z"`, `"started": 17`,
			"Time.UnmarshalJSON"},
		{"started missing", `"started": "1970-01-01T00:00:01Z",`, ``, "started: missing"},
		{"text for a value", `"ns/op": 41`, `"ns/op": "41"`,
			"forks.series.values of type float64"},
		{"negative value", `"ns/op": 41`, `"ns/op": -41`, `forks[1].series[0].values["ns/op"]: -41`},
		{"more than any number", `"ns/op": 41`, `"ns/op": 1e999`,
			"forks.series.values of type float64"},
		{"more than a picture holds", `"ns/op": 41`, `"ns/op": 1.7e308`,
			`forks[1].series[0].values["ns/op"]: 1.7e+308, want 0, or a number from 1e-100 to 1e+100`},
		{"less than a picture holds", `"ns/op": 41`, `"ns/op": 5e-324`,
			`forks[1].series[0].values["ns/op"]: 5e-324, want 0, or`},
		{"more forks than a cell has", `"index": 1`, `"index": 10000`,
			"forks[1].index: 10000, want 0 to 9999, or 1048576"},
		{"more processors than there are", `"procs": 2`, `"procs": 2000000000`,
			"cells[0].procs: 2000000000, want 1 to 65536"},
		{"no size of anything", `"value": "10"`, `"value": "Inf"`, `cells[0].params[0]: "Inf"`},
		{"not a number", `"ns/op": 41`, `"ns/op": NaN`, "not whole JSON"},
		{"unit with a space", `"ns/op": 41`, `"ns op": 41`, `forks[1].series[0].values["ns op"]`},
		{"negative process value", `"peak-rss-B": 4096`, `"peak-rss-B": -1`,
			`forks[0].process["peak-rss-B"]: -1`},
		{"negative time", `"seconds": 0.25`, `"seconds": -1`, "forks[0].seconds: -1"},
		{"text for a pass", "39,", `"39",`, "forks.series.passes of type float64"},
		{"negative seed", `"seed": 0`, `"seed": -1`, "forks.seed of type uint64"},
		{"half a fork", `"index": 1`, `"index": 1.5`, "forks.index of type int"},
		{"the same fork twice", `"index": 1`, `"index": 0`,
			"forks[1].index: fork 0 of store/store-ops/objects=10/clientgo/p2 is there twice"},
		{"histogram that is none", `"delay": "`, `"delay": "x`,
			`forks[0].series[0].histograms["delay"]: `},
		{"the same cell twice", `"role": "aa"`, `"role": ""`,
			"cells[1]: store/store-ops/objects=10/clientgo/p2 is there twice"},
		{"unknown role", `"role": "aa"`, `"role": "bb"`, `cells[1].role: "bb"`},
		{"unknown component", `"component": "store",` + "\n\t\t\t\"impl\"",
			`"component": "stove",` + "\n\t\t\t\"impl\"", `cells[0].component: "stove"`},
		{"no processors", `"procs": 2`, `"procs": 0`, "cells[0].procs: 0"},
		{"a fork's cell without implementation", "\t\t\t\t\"impl\": \"clientgo\"",
			"\t\t\t\t\"impl\": \"\"", "forks[0].cell.impl, workload: missing"},
		{"a fork of another cell", "\t\t\t\t\"impl\": \"clientgo\"", "\t\t\t\t\"impl\": \"other\"",
			"forks[0].cell: store/store-ops/objects=10/other/p2 is not among"},
		{"parameter without value", `"value": "10"`, `"value": ""`, "cells[0].params[0]"},
		{"no chance of error", `"alpha": 0.01`, `"alpha": 0`, "settings.rule: "},
		{"negative threshold", `"threshold": 0.03`, `"threshold": -0.03`,
			"settings.rule: "},
		{"object for a list", `"command": null`, `"command": {}`, "command of type []string"},
		{"number for a truth", `"complete": true`, `"complete": 1`, "complete of type bool"},
		{"text for the cores", `"cores": 0`, `"cores": "2"`, "environment.cores of type int"},
	} {
		if strings.Count(text, c.old) == 0 {
			t.Errorf("%s: %s is not in the file", c.name, c.old)
			continue
		}
		dir := t.TempDir()
		path := filepath.Join(dir, RunFile)
		if err := os.WriteFile(path, edited(text, c.old, c.new), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadRun(dir); err == nil || !strings.HasPrefix(err.Error(), path+": ") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s and %q", c.name, err, path, c.want)
		}
	}
}

// The schedule of a run that was read fits into memory.
func TestRunsOfTooManyForksAreRefused(t *testing.T) {
	t.Parallel()
	many := sampleRun()
	for i := range MaxWorkloads {
		many.Workloads = append(many.Workloads, WorkloadText{Key: strconv.Itoa(i), Name: "w"})
	}
	if err := many.validate(); err == nil ||
		!strings.Contains(err.Error(), "workloads: 10001, want 10000 at most") {
		t.Errorf("10,001 workloads: %v", err)
	}
	if err := CheckPlanned(MaxForks, 100); err != nil {
		t.Error(err)
	}
	if err := CheckPlanned(MaxForks, 101); err == nil ||
		!strings.Contains(err.Error(),
			"10000 processes of each of 101 cells are 1010000, want 1000000 at most in all") {
		t.Error(err)
	}
	dir, _ := written(t)
	r, err := ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		spoil func(*Run)
		want  string
	}{
		"looks": {func(r *Run) {
			r.Looks = make([]Look, MaxLooks+1)
		}, "looks: 10001, want 10000 at most"},
		"a look": {func(r *Run) {
			r.Looks = []Look{{Forks: MaxForks + 1}}
		}, "looks[0].forks: 10001"},
		"cells": {func(r *Run) {
			r.Settings.Forks, r.Cells = MaxForks, make([]Cell, 200)
		}, "settings.forks, looks: 10000 processes of each of 200 cells"},
		"shards": {func(r *Run) {
			r.Settings.Shard = &Shard{Index: 1, Of: 2_000_000_000}
		}, "settings.shard.index: shard 1 of 2000000000, want an index from 1 to the number of " +
			"shards, and 10000 shards at most"},
		"forks asked": {func(r *Run) {
			r.Settings.Forks = 2_000_000_000
		}, "settings.forks: 2000000000, want 1 to 10000"},
	} {
		spoiled := *r
		c.spoil(&spoiled)
		if err := spoiled.validate(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

// A fork's own file gets the same checks, under its own name.
func TestDamagedForkFileIsNamed(t *testing.T) {
	t.Parallel()
	dir := begun(t, 1)
	files, err := filepath.Glob(filepath.Join(dir, forksDir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"ns/op": 40`, `"ns/op": "40"`, "series.values of type float64"},
		{`"ns/op": 40`, `"ns/op": -40`, `series[0].values["ns/op"]: -40`},
		{`"index": 0`, `"index": `, "invalid character"},
		{`"impl": "clientgo"`, `"impl": "other"`,
			"cell: store/store-ops/objects=10/other/p2 is not among"},
	} {
		if err := os.WriteFile(files[0], edited(string(whole), c.old, c.new), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadRun(dir); err == nil || !strings.HasPrefix(err.Error(), files[0]+": ") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s and %q", c.new, err, files[0], c.want)
		}
	}
}

// The components that a record may name are those of the contract.
func TestComponentsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	for _, cl := range contract.Clauses() {
		c := Cell{Component: cl.Component, Impl: "i", Workload: "w", Procs: 1}
		if err := c.validate(); err != nil {
			t.Error(err)
		}
	}
	if err := (Cell{}).validate(); err == nil {
		t.Error("an empty cell is none")
	}
}

// logRatio is a ratio of ns/op.
func logRatio(log float64, sittings ...float64) map[string]LogRatio {
	return map[string]LogRatio{"ns/op": {Log: log, Sittings: sittings}}
}

func TestRatiosToTheBaseAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base map[string]LogRatio
		want string // "" if it is right
	}{
		{nil, ""},
		{logRatio(-0.2, -0.3, -0.1), ""},
		{logRatio(0), `base["ns/op"].sittings`},
		{logRatio(-51, 0), `base["ns/op"]: -51`},
		{logRatio(math.Inf(1), 0), `base["ns/op"]: +Inf`},
	} {
		s := Series{Op: "get", Base: c.base}
		if err := s.validate(); (err == nil) != (c.want == "") || err != nil &&
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.base, err, c.want)
		}
	}
}

func TestDuetIsChecked(t *testing.T) {
	t.Parallel()
	of := logRatio
	for _, c := range []struct {
		duet Duet
		want string // "" if it is right
	}{
		{Duet{Against: "clientgo", Ratios: of(-0.2, -0.2), Reference: map[string]float64{"ns/op": 3}},
			""},
		{Duet{Ratios: of(-0.2, -0.2)}, "duet: "},
		{Duet{Against: "clientgo"}, "duet: "},
		{Duet{Against: "clientgo", Ratios: of(0)}, `duet.ratios["ns/op"].sittings`},
		{Duet{Against: "clientgo", Ratios: of(0, 0, 1000)}, `duet.ratios["ns/op"]: 1000`},
		{Duet{Against: "clientgo", Ratios: of(math.NaN(), 0)}, `duet.ratios["ns/op"]: NaN`},
		{Duet{Against: "clientgo", Ratios: of(0, 0), Reference: map[string]float64{"ns/op": -3}},
			`duet.reference["ns/op"]`},
	} {
		s := Series{Op: "get", Duet: &c.duet}
		if err := s.validate(); (err == nil) != (c.want == "") || err != nil &&
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.duet, err, c.want)
		}
	}
}

// A string that would make reports slow is refused, without all of it in the error.
func TestLongStringsAreRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 128<<10)
	for field, r := range map[string]*Run{
		"Forks[0].Series[0].Op":     {Forks: []Fork{{Series: []Series{{Op: long}}}}},
		"Cells[0].Impl":             {Cells: []Cell{{Impl: long}}},
		"Warnings[0]":               {Warnings: []string{long}},
		"a key of Forks[0].Process": {Forks: []Fork{{Process: map[string]float64{long: 1}}}},
	} {
		if err := r.validate(); err == nil || !strings.HasPrefix(err.Error(), field+": ") ||
			len(err.Error()) > 400 {
			t.Errorf("%s: %.300v", field, err)
		}
	}
}
