package metrics

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestTable(t *testing.T) {
	t.Parallel()
	if len(rows) != len(all) {
		t.Errorf("%d names in %d rows: some name stands twice", len(rows), len(all))
	}
	for _, m := range All() {
		if m.Name == "" || strings.ContainsFunc(m.Name, unicode.IsSpace) {
			t.Errorf("%q cannot be a unit of benchfmt", m.Name)
		}
		if m.Help == "" {
			t.Errorf("%s: nobody learns what it is", m.Name)
		}
		if m.Judged && m.Better == Neither {
			t.Errorf("%s gets a verdict and has no better direction", m.Name)
		}
		for _, other := range m.Unless {
			if o, ok := rows[other]; !ok || !all[o].Judged {
				t.Errorf("%s yields to %s, which gets no verdict", m.Name, other)
			}
		}
		for _, other := range m.Steadier {
			if o, ok := rows[other]; !ok || all[o].Better != m.Better {
				t.Errorf("%s is to be replaced by %s, which is not in the table or better the other way", m.Name, other)
			}
		}
		if slices.Contains([]string{BytesPerOp, HeapPerObject}, m.Name) {
			continue // their endings say something else
		}
		// What an unknown name would be taken for is what the table says.
		if i := rows[m.Name]; all[i].Unit != unknown(m.Name).Unit {
			t.Errorf("%s is in unit %d, its ending says %d", m.Name, all[i].Unit, unknown(m.Name).Unit)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Metric{
		"MB/s": {Name: "MB/s", Unit: PerSecond, Better: HigherIsBetter}, "x-ns": {Name: "x-ns", Unit: Nanoseconds},
		"x-B": {Name: "x-B", Unit: Bytes}, "x-%": {Name: "x-%", Unit: Percent}, "events": {Name: "events"},
		"writer-achieved-%": {Name: "writer-achieved-%", Unit: Percent, Better: HigherIsBetter}, "listers-ops/s": {Name: "listers-ops/s", Unit: PerSecond, Better: HigherIsBetter},
		"writer-delay-usual-p99-ns": {Name: "writer-delay-usual-p99-ns", Unit: Nanoseconds, SameWithin: tailsAlike}, "x10-ns/op": {Name: "x10-ns/op", Unit: Nanoseconds},
	} {
		got := Of(name)
		if got.Name != want.Name || got.Unit != want.Unit || got.Better != want.Better || got.SameWithin != want.SameWithin || got.Judged || got.Help != "" {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestJudgedAmong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		metric string
		others []string
		want   bool
	}{
		{NsPerOp, nil, true},
		{AllocsPerOp, nil, false},
		{Achieved, nil, true},
		{Achieved, []string{AchievedPct}, false},
		{"service-p99-ns", nil, true},
		{"service-p99-ns", []string{"delay-p99-ns"}, false},
		{"service-p99-ns", []string{"delay-usual-p99-ns"}, false},
		{"delay-p99-ns", []string{"delay-usual-p99-ns"}, false},
		{"late-p99-ns", nil, false},
		{"delay-p99.9-ns", nil, false},
		{"unknown", nil, false},
	} {
		if got := JudgedAmong(c.metric, c.others); got != c.want {
			t.Errorf("%s beside %v: %v, want %v", c.metric, c.others, got, c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	got := []string{"zebra", "apple", PeakRSS, "delay-p99.9-ns", "delay-p99-ns", NsPerOp, AllocsPerOp}
	slices.SortFunc(got, Compare)
	want := []string{NsPerOp, AllocsPerOp, "delay-p99-ns", "delay-p99.9-ns", PeakRSS, "apple", "zebra"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
