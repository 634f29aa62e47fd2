package benchcmd

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/record"
)

// A compressed file with columns of its own becomes a trace, which says what it can show and
// is replayed twice over.
func TestImportOfAnyCSV(t *testing.T) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	fmt.Fprintln(zip, "id,born_ms,died_ms")
	for i := range 30 {
		fmt.Fprintf(zip, "old-%d,,%d\n", i, 1000+i)
		fmt.Fprintf(zip, "new-%d,%d,\n", i, 500+i)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	csv := write(t, "mine.csv.gz", packed.String())
	trace := filepath.Join(t.TempDir(), "mine.trace")
	code, out, errOut := benchrun(t, "trace", "import", "--pods", csv, "--map",
		"name=id,creation_time=born_ms*0.001", "--map", "deletion_time=died_ms*0.001", "--compress", "10",
		"-o", trace)
	const shows = "31 at the start, 60 at once at most"
	if code != 0 || !strings.Contains(out, "60 of 60 pods\n") ||
		!strings.Contains(out, "31 pods alive when the recording began") ||
		!strings.Contains(out, shows) {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	if code, out, errOut = benchrun(t, "trace", "info", trace); code != 0 ||
		!strings.Contains(out, shows) || !strings.Contains(out, "31 at the start") {
		t.Errorf("info: exit code %d\n%s%s", code, out, errOut)
	}
	dir := filepath.Join(t.TempDir(), "run")
	code, out, errOut = benchrun(t, "run", "--trace", trace, "--times", "2", "--component", "store",
		"--impl", "clientgo,mutexmap", "--forks", "1", "--profile=false", "--skip-verify", "-o", dir)
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	run, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if run.Settings.Times != 2 || run.Workloads[0].Name != "trace-mine-x2" ||
		!strings.HasSuffix(run.Workloads[0].Source, "2 times over") || len(run.Checks) == 0 {
		t.Errorf("%+v of %+v", run.Settings, run.Workloads[0])
	}
	for _, c := range run.Checks {
		if !c.Passed || strings.Contains(c.Name, "final state") &&
			!strings.Contains(c.Detail, "60 objects after") {
			t.Errorf("%+v", c)
		}
	}
}
