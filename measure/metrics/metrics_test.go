package metrics

import (
	"maps"
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
		"MB/s": {Name: "MB/s", Unit: PerSecond, Better: HigherIsBetter},
		"x-ns": {Name: "x-ns", Unit: Nanoseconds},
		"x-B":  {Name: "x-B", Unit: Bytes}, "x-%": {Name: "x-%", Unit: Percent, Better: Neither},
		"hit-ratio": {Name: "hit-ratio", Better: Neither},
		"ops/sec":   {Name: "ops/sec", Unit: PerSecond, Better: HigherIsBetter},
		"rps":       {Name: "rps", Unit: PerSecond, Better: HigherIsBetter},
		"peak-QPS":  {Name: "peak-QPS", Unit: PerSecond, Better: HigherIsBetter},
		"ns/get":    {Name: "ns/get", Unit: Nanoseconds}, "B/object": {Name: "B/object", Unit: Bytes},
		"allocs/get":        {Name: "allocs/get"},
		"writer-achieved-%": {Name: "writer-achieved-%", Unit: Percent, Better: HigherIsBetter},
		"listers-ops/s":     {Name: "listers-ops/s", Unit: PerSecond, Better: HigherIsBetter},
		"writer-delay-usual-p99-ns": {Name: "writer-delay-usual-p99-ns", Unit: Nanoseconds,
			SameWithin: tailsAlike}, "x10-ns/op": {Name: "x10-ns/op", Unit: Nanoseconds},
	} {
		got := Of(name)
		if got.Name != want.Name || got.Unit != want.Unit || got.Better != want.Better ||
			got.SameWithin != want.SameWithin || got.Judged || got.Help != "" {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{NsPerOp: true, Offered: true, "writer-offered/s": true,
		"MB/s": true, "x-ns": true, "hit-ratio": false, "x-%": false} {
		if got := Known(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// A percentile of too few values does not stand in tables; what is no percentile does.
func TestShownPercentileHasValues(t *testing.T) {
	t.Parallel()
	forks := func(n ...float64) (forks []map[string]float64) {
		for _, n := range n {
			forks = append(forks, map[string]float64{Number(Service): n, Percentile(Service, 99): 1,
				Percentile(Service, 99.9): 1, Percentile(Service, 50): 1, Max(Service): 1, Achieved: 1})
		}
		return forks
	}
	for _, c := range []struct {
		metric string
		forks  []map[string]float64
		want   bool
	}{
		{Percentile(Service, 99), forks(1_000, 5_000), true},
		{Percentile(Service, 99), forks(999, 5_000), false},
		{Percentile(Service, 99.9), forks(9_999), false},
		{Percentile(Service, 99.9), forks(10_000), true},
		{Percentile(Service, 50), forks(1), true},
		{Max(Service), forks(1), true},
		{Number(Service), forks(1), true},
		{Achieved, forks(1), true},
	} {
		if got := ShownIn(c.metric, c.forks); got != c.want {
			t.Errorf("%s of %v is shown: %t, want %t", c.metric, c.forks, got, c.want)
		}
	}
}

// A percentile is judged where each fork has enough values for it; otherwise the next lower one
// is, or none.
func TestJudgedPercentileHasValues(t *testing.T) {
	t.Parallel()
	// of has all percentiles of a distribution, and its usual p99 if asked to.
	of := func(distribution string, n float64, usual bool) map[string]float64 {
		values := map[string]float64{Number(distribution): n}
		for _, p := range Percentiles {
			values[Percentile(distribution, p)] = 1
		}
		if usual {
			values[Usual(distribution)] = 1
		}
		return values
	}
	unknown := of(Delay, 0, false)
	delete(unknown, Number(Delay))
	both := of(Delay, 40, false)
	maps.Copy(both, of(Service, 1_000, false))
	endToEnd := of(Delay, 1_000, false)
	maps.Copy(endToEnd, of(Response, 1_000, false))
	for name, c := range map[string]struct {
		forks []map[string]float64
		want  []string
	}{
		"two and three values": {
			[]map[string]float64{of(Service, 2, false), of(Service, 3, false)}, nil},
		"none in one fork": {
			[]map[string]float64{of(Service, 1_000, false), {Number(Service): 0}}, nil},
		"enough for the median": {
			[]map[string]float64{of(Service, 20, false), of(Service, 99, false)},
			[]string{"service-p50-ns"}},
		"enough for the p90 in the slower": {
			[]map[string]float64{of(Service, 100, false), of(Service, 10_000, false)},
			[]string{"service-p90-ns"}},
		"enough for the p99": {[]map[string]float64{of(Service, 1_000, false)},
			[]string{"service-p99-ns"}},
		"enough for the p99.99": {[]map[string]float64{of(Service, 1e6, false)},
			[]string{"service-p99-ns"}},
		"one less": {[]map[string]float64{of(Service, 999, false)},
			[]string{"service-p90-ns"}},
		"a usual p99": {
			[]map[string]float64{of(Delay, 1_000, true), of(Delay, 1_000, true)},
			[]string{"delay-usual-p99-ns"}},
		"a usual p99 of few values": {[]map[string]float64{of(Delay, 999, true)},
			[]string{"delay-p90-ns"}},
		"a usual p99 in one fork": {
			[]map[string]float64{of(Delay, 1_000, true), of(Delay, 1_000, false)}, []string{"delay-p99-ns"}},
		"a number that is not known": {[]map[string]float64{unknown}, []string{"delay-p99-ns"}},
		"service beside a delay":     {[]map[string]float64{both}, []string{"delay-p50-ns"}},
		"from end to end beside a delay": {
			[]map[string]float64{endToEnd, endToEnd}, []string{"response-p99-ns"}},
		"from end to end in one fork only": {
			[]map[string]float64{endToEnd, of(Delay, 1_000, false)},
			[]string{"response-p99-ns", "delay-p99-ns"}},
		"of the generator": {[]map[string]float64{of(Late, 1_000, false)}, nil},
		"no percentile": {
			[]map[string]float64{{NsPerOp: 1, Achieved: 1, AchievedPct: 1}, {NsPerOp: 1}},
			[]string{NsPerOp, AchievedPct}},
	} {
		var got []string
		for _, m := range All() {
			if JudgedIn(m.Name, c.forks) {
				got = append(got, m.Name)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
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
