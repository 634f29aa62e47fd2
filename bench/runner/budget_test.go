package runner

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// A workload that would need more forks than the budget pays for is doubled once, because the
// estimate of that number rests on few forks. Then the budget stops and says why.
func TestBudgetDoublesOnce(t *testing.T) {
	t.Parallel()
	const forks = 6
	for _, c := range []struct {
		name   string
		budget time.Duration
		forks  int // so far
		want   int // 0: none are added
		says   string
	}{
		{"no budget", 0, forks, 0, ""},
		{"the first look", 20 * time.Second, forks, 2 * forks, "12 forks of each instead of 6, to see what its inconclusive comparisons need"},
		{"too little for that", 17 * time.Second, forks, 0, "budget: 17s left"},
		{"the second look", 60 * time.Second, 2 * forks, 0, "budget: 42s left"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := recordtest.Run(recordtest.Spec{Forks: c.forks, Noise: 0.5, Seed: 1, Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 100}, {Name: "alike", NsPerOp: 100}}})
			run.Settings.Forks, run.Settings.Budget = forks, c.budget
			if c.forks > forks {
				run.Looks = []record.Look{{Workload: run.Cells[0].WorkloadKey(), Forks: c.forks}}
			}
			for i := range run.Forks {
				run.Forks[i].Seconds = 1 // three cells: 18 s for six forks of each
			}
			j, err := record.CreateJournal(filepath.Join(t.TempDir(), "run"), run)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := j.Close(); err != nil {
					t.Error(err)
				}
			}()
			var out bytes.Buffer
			looks, err := look([]*side{{Journal: j}}, &out)
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for _, l := range looks {
				got = l.Forks
			}
			if got != c.want || !strings.Contains(out.String(), c.says) || c.says == "" && out.Len() > 0 {
				t.Errorf("%d forks, want %d; it says %q, want %q", got, c.want, out.String(), c.says)
			}
		})
	}
}
