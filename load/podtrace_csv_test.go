package load

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// The columns of the openb files.
var (
	podColumns = []string{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec",
		"qos", "pod_phase", "creation_time", "deletion_time", "scheduled_time"}
	nodeColumns = []string{"sn", "cpu_milli", "memory_mib", "gpu", "model"}
)

// csvFiles opens a pods file and a nodes file.
func csvFiles(t testing.TB, pods, nodes string) (p, n CSVFile) {
	t.Helper()
	open := func(path string) CSVFile {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return CSVFile{Name: filepath.Base(path), Reader: f}
	}
	return open(pods), open(nodes)
}

func importFixture(t testing.TB, options ImportOptions) (*PodTrace, ImportReport) {
	t.Helper()
	pods, nodes := csvFiles(t, "testdata/pods.csv", "testdata/nodes.csv")
	tr, report, err := ImportCSV(pods, nodes, options)
	if err != nil {
		t.Fatal(err)
	}
	return tr, report
}

// lines writes a trace's events as "at type name what".
func lines(tr *PodTrace) []string {
	var out []string
	for _, e := range tr.Events {
		out = append(out, strings.TrimSpace(
			fmt.Sprintf("%v %s %s %s%s", e.At, e.Type, tr.Pods[e.Pod].Name, e.Phase,
				strings.TrimRight(e.Node, "0123456789"))))
	}
	return out
}

func TestImport(t *testing.T) {
	t.Parallel()
	tr, report := importFixture(t, ImportOptions{})
	want := []string{
		"0s created runs-on", "10s scheduled runs-on small-", "11s phase runs-on Running",
		"20s created never-scheduled", "20s created finishes", "25s scheduled finishes small-",
		"30s created fails", "30s scheduled fails big-",
		"40s created instant", "40s scheduled instant small-", "40s phase instant Failed",
		"40s deleted instant",
		"50s created evicted", "59s phase evicted Failed", "1m0s deleted evicted",
		"1m40s created still-there", "1m41s scheduled still-there small-",
		"1m42s phase still-there Running",
		"5m0s deleted never-scheduled", "6m39s phase finishes Succeeded", "6m40s deleted finishes",
		"8m19s phase fails Failed", "8m20s deleted fails", "16m40s deleted runs-on",
	}
	got := lines(tr)
	for i := range got {
		got[i] = strings.Replace(got[i], "big-", "small-", 1) // small pods may be on either
	}
	for i := range want {
		want[i] = strings.Replace(want[i], "big-", "small-", 1)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want := (ImportReport{PodRows: 7, NodeRows: 3, Pods: 7, Nodes: 3, Skipped: map[string]int{},
		AliveAtStart: 1, NeverScheduled: 2, AliveAtEnd: 1, Instant: 1}); !reflect.DeepEqual(report,
		want) {
		t.Errorf("report %+v\nwant   %+v", report, want)
	}
	for _, e := range tr.Events {
		if e.Type == TraceScheduled && tr.Pods[e.Pod].Name == "fails" && e.Node != "big-0" {
			t.Errorf("a pod that asks for two GPUs of a G9 is on %s", e.Node)
		}
	}
}

func TestImportOptions(t *testing.T) {
	t.Parallel()
	plain, _ := importFixture(t, ImportOptions{})
	again, _ := importFixture(
		t, ImportOptions{Seed: DefaultSeed, Compress: 1, Namespaces: DefaultTraceNamespaces})
	if !reflect.DeepEqual(plain, again) {
		t.Error("the same import gave another trace")
	}
	if other, _ := importFixture(t, ImportOptions{Seed: 2}); reflect.DeepEqual(plain.Events,
		other.Events) && reflect.DeepEqual(plain.Pods, other.Pods) {
		t.Error("another seed gave the same trace")
	}
	fast, _ := importFixture(t, ImportOptions{Compress: 100})
	if span := fast.Trace().Info().Span; span != 10*time.Second {
		t.Errorf("1000 s compressed by 100 take %v", span)
	}
	one, _ := importFixture(t, ImportOptions{Namespaces: 1})
	if n := one.Trace().Info().Namespaces; n != 1 {
		t.Errorf("%d namespaces, want 1", n)
	}
	ended, report := importFixture(t, ImportOptions{DeleteAtEnd: true})
	if len(ended.Trace().FinalState()[0]) != 0 || report.AliveAtEnd != 0 {
		t.Errorf("with DeleteAtEnd %d pods are left", len(ended.Trace().FinalState()[0]))
	}
	for _, bad := range []ImportOptions{{Compress: -1}, {Compress: 0.5}, {Namespaces: -1}} {
		if _, _, err := ImportCSV(CSVFile{}, CSVFile{}, bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// brokenRows are the mistakes in testdata/pods-broken.csv: line, column, part of the
// allowed values.
var brokenRows = []struct {
	line            int
	column, allowed string
}{
	{3, "name", "a name"},
	{4, "cpu_milli", "0 to 1099511627776"},
	{5, "memory_mib", "0 to 1099511627776"},
	{6, "qos", "one of LS, BE, Burstable, Guaranteed"},
	{7, "qos", "one of LS, BE, Burstable, Guaranteed"},
	{8, "pod_phase", "one of Pending, Running, Succeeded, Failed"},
	{9, "creation_time", "seconds such as 86400"},
	{10, "deletion_time", "a time from creation_time on"},
	{11, "scheduled_time", "a time from creation_time to deletion_time"},
	{12, "scheduled_time", "the pod_phase Pending or Failed"},
	{13, "name", "another name than on line 2"},
	{14, "name", "requests within the capacity of a node"},
	{15, "name", "requests within the capacity of a node"},
	{16, "row", "11, as in the header"},
	{17, "row", "quotes doubled"},
}

func TestBrokenRows(t *testing.T) {
	t.Parallel()
	pods, nodes := csvFiles(t, "testdata/pods-broken.csv", "testdata/nodes.csv")
	_, _, err := ImportCSV(pods, nodes, ImportOptions{})
	var rows FieldErrors
	if !errors.As(err, &rows) {
		t.Fatalf("got %v, want FieldErrors", err)
	}
	if len(rows) != len(brokenRows) {
		t.Fatalf("%d broken rows, want %d:\n%v", len(rows), len(brokenRows), err)
	}
	for i, want := range brokenRows {
		got := rows[i]
		if got.Line != want.line || got.Path != want.column ||
			!strings.Contains(got.Allowed, want.allowed) ||
			!strings.HasPrefix(got.Error(),
				fmt.Sprintf("pods-broken.csv:%d: %s: ", want.line, want.column)) {
			t.Errorf("got %v\nwant line %d, column %s, use %s", got, want.line, want.column, want.allowed)
		}
	}
}

func TestSkipBadRows(t *testing.T) {
	t.Parallel()
	pods, nodes := csvFiles(t, "testdata/pods-broken.csv", "testdata/nodes.csv")
	tr, report, err := ImportCSV(pods, nodes, ImportOptions{SkipBadRows: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Pods) != 2 || report.PodRows != 17 || report.Pods != 2 ||
		skippedRows(report) != len(brokenRows) {
		t.Errorf("%d pods, report %+v", len(tr.Pods), report)
	}
	if got := report.Skipped["pods-broken.csv: qos: not one of the values"]; got != 2 {
		t.Errorf("2 rows have a wrong qos, the report counts %d in %v", got, report.Skipped)
	}
}

func TestUnreadableCSV(t *testing.T) {
	t.Parallel()
	good := "sn,cpu_milli,memory_mib,gpu,model\nn,1,1,0,\n"
	failing := errors.New("the disk is gone")
	for _, c := range []struct{ name, pods, nodes, want string }{
		{"UTF-16", "\xff\xfen\x00a\x00", good, "p.csv is UTF-16"},
		{"UTF-16, the other way", "\xfe\xff\x00n", good, "p.csv is UTF-16"},
		{"semicolons", "name;creation_time\na;1\n", good, "p.csv:1: ';' stands between the columns"},
		{"tabs", "name\tcreation_time\n", good, `p.csv:1: '\t' stands between the columns`},
		{"empty", "", good, "p.csv: the file is empty: use one that begins with the names of its columns"},
		{"no column", "name,qos\n", good,
			"p.csv:1: the column creation_time is missing: name the one that has it by --map " +
				"creation_time=COLUMN, one of name, qos"},
		{"wrong file", good, good, "p.csv:1: the column name is missing"},
		{"broken node", strings.Join(podColumns, ",") + "\n", strings.Replace(good, "n,1", "n,x", 1),
			"n.csv:2: cpu_milli: \"x\": not a number in range"},
	} {
		_, _, err := ImportCSV(CSVFile{"p.csv", strings.NewReader(c.pods)},
			CSVFile{"n.csv", strings.NewReader(c.nodes)}, ImportOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s...", c.name, err, c.want)
		}
	}
	_, _, err := ImportCSV(CSVFile{"p.csv", failingReader{failing}},
		CSVFile{"n.csv", strings.NewReader("\ufeff" + good)}, ImportOptions{SkipBadRows: true})
	if !errors.Is(err, failing) {
		t.Errorf("a reader's error became %v", err)
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// TestProductionTrace imports the real files, which are not part of the project.
func TestProductionTrace(t *testing.T) {
	t.Parallel()
	const dir = "../../shared/traces/" // beside the repository
	if _, err := os.Stat(dir + "openb_pods.csv"); err != nil {
		t.Skipf("the Alibaba trace is not here: %v", err)
	}
	pods, nodes := csvFiles(t, dir+"openb_pods.csv", dir+"openb_nodes.csv")
	tr, report, err := ImportCSV(pods, nodes, ImportOptions{Compress: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	want := ImportReport{PodRows: 8152, NodeRows: 1523, Pods: 8152, Nodes: 1523,
		Skipped: map[string]int{}, AliveAtStart: 1, NeverScheduled: 897, AliveAtEnd: 34, Instant: 1}
	if !reflect.DeepEqual(report, want) {
		t.Errorf("report %+v\nwant   %+v", report, want)
	}
	whole := tr.Trace()
	info, got := whole.Info(), map[PodEventType]int{}
	for _, e := range tr.Events {
		got[e.Type]++
	}
	events := map[PodEventType]int{TraceCreated: 8152, TraceScheduled: 8152 - 897,
		TracePhase: 8152 - 897, TraceDeleted: 8152 - 34}
	if !reflect.DeepEqual(got, events) || info.FinalLive != 34 || len(whole.FinalState()[0]) != 34 {
		t.Errorf("info %+v\nwant the events %v and 34 pods left", info, events)
	}
	if info.Span < 128*time.Second || info.Span > 130*time.Second {
		t.Errorf("149 days compressed by 100,000 take %v", info.Span)
	}
	if keys := slices.Collect(maps.Keys(whole.FinalState()[0])); len(keys) > 0 &&
		!strings.Contains(keys[0], "/openb-pod-") {
		t.Errorf("a key is %q", keys[0])
	}
	t.Logf("%+v", info)
}

// A name may come again once its pod is deleted, also where that is the first thing that happens
// in the file.
func TestImportOfANameThatComesAgain(t *testing.T) {
	t.Parallel()
	for _, rows := range []string{
		"web-0,,100\nweb-0,105,\nb,110,\n",
		"a,0,0\na,10,20\nb,5,30\n",
	} {
		tr, report, err := importText("name,creation_time,deletion_time\n"+rows, ImportOptions{})
		if err != nil || report.Pods != 3 || len(tr.Pods) != 3 {
			t.Errorf("%q: %v", rows, err)
		}
	}
}

// skippedRows is the number of rows left out.
func skippedRows(r ImportReport) (n int) {
	for _, v := range r.Skipped {
		n += v
	}
	return n
}
