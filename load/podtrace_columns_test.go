package load

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

func TestParseColumns(t *testing.T) {
	t.Parallel()
	got, err := ParseColumns(
		[]string{"name=instance_sn", " creation_time = t * 0.001 ", "qos=", "node=a*b*2"})
	want := map[string]Column{"name": {Name: "instance_sn"}, "creation_time": {"t", 0.001}, "qos": {},
		"node": {"a*b", 2}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
	for text, says := range map[string]string{
		"name":            "want FIELD=COLUMN",
		"nam=x":           `unknown field "nam": have name, creation_time`,
		"speed=x":         "have name, creation_time, scheduled_time",
		"cpu_milli=x*0":   "not a number above 0",
		"cpu_milli=x*NaN": "not a number above 0",
		"cpu_milli=x*Inf": "not a number above 0",
		"cpu_milli=x*a":   "not a number above 0",
	} {
		if _, err := ParseColumns([]string{text}); !errors.Is(err, ErrColumns) ||
			!strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: got %v, want %q", text, err, says)
		}
	}
	if _, err := ParseColumns([]string{"name=a", "name=b"}); !errors.Is(err, ErrColumns) ||
		!strings.Contains(err.Error(), "given twice") {
		t.Errorf("a field given twice: %v", err)
	}
}

func mustParseColumns(t testing.TB, texts ...string) map[string]Column {
	t.Helper()
	c, err := ParseColumns(texts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func importText(pods string, o ImportOptions) (*PodTrace, ImportReport, error) {
	return ImportCSV(CSVFile{"mine.csv", strings.NewReader(pods)}, CSVFile{}, o)
}

// A file with columns of its own, times in milliseconds and none of what openb has beside
// names and times: what is alive at the start is there, what is not deleted stays.
func TestImportOfAnyColumns(t *testing.T) {
	t.Parallel()
	const pods = "id,app,from,started,until\n" +
		"old,a,,,\n" + // from before the start to behind the end
		"old-2,a,NaN,null,5000\n" +
		"before,a,-7,-6,9000\n" +
		"first,b,1000,1000,\n" +
		"new,b,2000,3000,4000\n" +
		"waits,b,2000,,\n" +
		"new,b,4000,4000,\n" // the name is free again
	o := ImportOptions{
		Columns: mustParseColumns(t, "name=id", "application=app", "creation_time=from*0.001",
			"scheduled_time=started*0.001", "deletion_time=until*0.001")}
	tr, report, err := importText(pods, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := (ImportReport{PodRows: 7, Pods: 7, Skipped: map[string]int{}, AliveAtStart: 4,
		NeverScheduled: 1, AliveAtEnd: 4}); !reflect.DeepEqual(report, want) {
		t.Errorf("report %+v\nwant   %+v", report, want)
	}
	want := []string{
		"0s created old", "0s scheduled old node-", "0s phase old Running",
		"0s created old-2", "0s scheduled old-2 node-", "0s phase old-2 Running",
		"0s created before", "0s scheduled before node-", "0s phase before Running",
		"0s created first", "0s scheduled first node-",
		"1s phase first Running", "1s created new", "1s created waits", "2s scheduled new node-",
		"2.5s phase new Running", "3s deleted new",
		"3s created new", "3s scheduled new node-", "4s deleted old-2", "4s phase new Running",
		"8s deleted before",
	}
	if got := lines(tr); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	whole := tr.Trace()
	if err := whole.Validate(); err != nil {
		t.Fatal(err)
	}
	if info := whole.Info(); info.Initial != 4 || info.Events[watch.Added] != 3 ||
		info.FinalLive != 4 || info.Namespaces != 2 || info.Nodes != 1 {
		t.Errorf("info %+v", info)
	}
	data := written(t, tr)
	if got, err := ReadTrace("mine", bytes.NewReader(data)); err != nil ||
		!reflect.DeepEqual(got, whole) {
		t.Errorf("the file does not give the trace back: %v", err)
	}
}

// The first time of a file may be a deletion: that pod was there.
func TestImportThatBeginsWithADeletion(t *testing.T) {
	t.Parallel()
	tr, report, err := importText("name,creation_time,deletion_time\na,,75\nb,75,75\nc,80,90\n",
		ImportOptions{DeleteAtEnd: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0s created a", "0s scheduled a node-", "0s phase a Running",
		"0s deleted a", "0s created b", "0s scheduled b node-", "0s phase b Running", "0s deleted b",
		"5s created c", "5s scheduled c node-", "6s phase c Running", "15s deleted c",
	}
	if got := lines(tr); !reflect.DeepEqual(got, want) || report.AliveAtStart != 1 || tr.Initial != 3 {
		t.Errorf("%+v, %d events lead to the start; got\n%s\nwant\n%s", report, tr.Initial,
			strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Dates, a namespace and a node of the file's own; two names are alike in two namespaces.
func TestImportOfDates(t *testing.T) {
	t.Parallel()
	tr, _, err := importText("name,namespace,node,creation_time,deletion_time\n"+
		"web,a,n-1,2026-01-31T15:00:00Z,2026-01-31T17:00:10+01:00\n"+
		"web,b,n-2,2026-01-31 15:00:05.5,\n", ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0s created web", "0s scheduled web n-",
		"1s phase web Running", "5.5s created web", "5.5s scheduled web n-", "6.5s phase web Running",
		"1h0m10s deleted web",
	}
	if got := lines(tr); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if nodes := tr.Trace().Nodes(); !slices.Equal(nodes, []string{"n-1", "n-2"}) {
		t.Errorf("the nodes are %v", nodes)
	}
}

// Without a table of nodes there is one for each DefaultPerNode pods; without requests the
// pods are spread over the namespaces.
func TestImportWithoutNodes(t *testing.T) {
	t.Parallel()
	var pods strings.Builder
	pods.WriteString("name,creation_time\n")
	for i := range 3001 {
		fmt.Fprintf(&pods, "pod-%d,%d\n", i, i)
	}
	tr, _, err := importText(pods.String(), ImportOptions{Compress: 10})
	if err != nil {
		t.Fatal(err)
	}
	info := tr.Trace().Info()
	if info.Nodes != 101 || info.Namespaces != DefaultTraceNamespaces || info.PeakLive != 3001 ||
		info.Span != 300*time.Second {
		t.Errorf("info %+v", info)
	}
	again, _, err := importText(pods.String(), ImportOptions{Compress: 10})
	if err != nil || !reflect.DeepEqual(tr, again) {
		t.Errorf("the same import gave another trace (%v)", err)
	}
}

func TestBadColumns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, pods, columns, want string }{
		{"no such column", "id,born\nx,1\n", "name=idd",
			`mine.csv:1: there is no column "idd" for name: use one of id, born`},
		{"no name", "id,born\nx,1\n", "creation_time=born",
			"mine.csv:1: the column name is missing: name the one that has it by --map name=COLUMN, one " +
				"of id, born"},
		{"no name is meant", "name,creation_time\nx,1\n", "name=",
			"mine.csv:1: the column name is missing"},
		{"two columns", "name,creation_time,name\nx,1,y\n", "qos=",
			`mine.csv:1: two columns are called "name"`},
		{"the file's own word", "name,born\nx,1\ny,soon\n", "creation_time=born",
			`mine.csv:3: born: "soon": not a time in range: use seconds`},
		{"milliseconds", "name,creation_time\nx,1700000000000\n", "qos=",
			`mine.csv:2: creation_time: "1700000000000": not a time in range: use seconds such as 86400 or 1700000000.5, to 1e+11`},
		{"two origins", "name,creation_time\nx,5\ny,1700000000\n", "qos=",
			"mine.csv: its times span 1.7e+09 seconds, from 5 to 1700000000"},
		{"gone before", "name,creation_time,deletion_time\nx,-5,-1\n", "qos=",
			`mine.csv:2: deletion_time: "-1": before the trace's start`},
		{"a name that is taken", "name,creation_time\nx,5\nx,7\n", "qos=",
			`mine.csv:3: name: "x": the name is taken by a pod that is alive: use another name than on line 2`},
		{"taken at the end", "name,creation_time,deletion_time\nx,5,9\nx,9,9\n", "qos=",
			`mine.csv:3: name: "x": the name is taken`},
		{"a slash", "name,creation_time\na/b,5\n", "qos=",
			`mine.csv:2: name: "a/b": a name with a slash`},
		{"a namespace that is missing", "name,namespace,creation_time\na,,5\n", "qos=",
			`mine.csv:2: namespace: "": missing`},
		{"nothing happens", "name,creation_time\nx,\ny,-4\n", "qos=",
			"mine.csv: all of its 2 pods are there from the start to the end"},
		{"no rows", "name,creation_time\n", "qos=",
			"import: 0 pods in the 0 rows of mine.csv: a replay needs"},
	} {
		_, _, err := importText(c.pods, ImportOptions{Columns: mustParseColumns(t, c.columns)})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v\nwant %s...", c.name, err, c.want)
		}
	}
	if _, _, err := importText("name,creation_time\nx,5\n",
		ImportOptions{Columns: map[string]Column{"speed": {}}}); err == nil ||
		!strings.Contains(err.Error(), `unknown field "speed"`) {
		t.Errorf("a field that there is not: %v", err)
	}
	// A rejected row is left out where that is wanted, a taken name too.
	tr, report, err := importText("name,creation_time\nx,5\nx,7\ny,8\n",
		ImportOptions{SkipBadRows: true})
	if err != nil || len(tr.Pods) != 2 || report.Pods != 2 || skippedRows(report) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

// FuzzImportCSV checks that an import ends in an error or in a trace that is valid, can be
// written and read back, and can be replayed several times over.
func FuzzImportCSV(f *testing.F) {
	f.Add(strings.Join(podColumns, ",")+"\np,1,1,0,0,,LS,Running,0,9,1\nq,1,1,0,0,,BE,Failed,3,9,\n",
		"", "")
	f.Add("id,born,died\na,,5\nb,1e3,NaN\na,7,\n",
		"name=id,creation_time=born*0.001,deletion_time=died", "")
	f.Add("name,creation_time,node\na,2026-01-31T15:04:05Z,n\nb,2026-01-31 16:04:05,\n", "qos=",
		"sn,cpu_milli,memory_mib,gpu,model\nn,1,1,0,m\n")
	f.Add("name,creation_time,scheduled_time,pod_phase,deletion_time\na,-1,,Succeeded,1\nb,,0,Pending,0\na,1,1,Failed,1\n", "", "")
	f.Fuzz(func(t *testing.T, pods, columns, nodes string) {
		o := ImportOptions{SkipBadRows: len(pods)%2 == 0, DeleteAtEnd: len(columns)%2 == 0}
		if columns != "" {
			c, err := ParseColumns(strings.Split(columns, ","))
			if err != nil {
				return
			}
			o.Columns = c
		}
		table := CSVFile{}
		if nodes != "" {
			table = CSVFile{"nodes.csv", strings.NewReader(nodes)}
		}
		lives, report, err := ImportCSV(CSVFile{"pods.csv", strings.NewReader(pods)}, table, o)
		if err != nil {
			if strings.HasPrefix(err.Error(), "import pods.csv") {
				t.Fatalf("the rows were accepted and made a trace that is not valid: %v", err)
			}
			return
		}
		whole := lives.Trace()
		if err := whole.Validate(); err != nil {
			t.Fatal(err)
		}
		info := whole.Info()
		if report.Pods != len(lives.Pods) || info.Initial != report.AliveAtStart ||
			info.FinalLive != report.AliveAtEnd || info.Total == 0 {
			t.Fatalf("report %+v, info %+v", report, info)
		}
		if got, err := ReadTrace("x", bytes.NewReader(written(t, lives))); err != nil ||
			!reflect.DeepEqual(got.Events, whole.Events) || !reflect.DeepEqual(got.Initial, whole.Initial) {
			t.Fatalf("written and read back it is another trace: %v", err)
		}
		if three, err := whole.Times(3); err != nil || three.Validate() != nil ||
			three.Info().Total != 3*info.Total {
			t.Fatalf("three times over: %v", errors.Join(err, three.Validate()))
		}
	})
}
