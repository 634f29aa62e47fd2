package runner

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/informerbench/informerbench/measure/record"
)

// begun begins a run in a folder of its own, and ends it with the test.
func begun(t *testing.T, run *record.Run) *side {
	t.Helper()
	j, err := record.CreateJournal(filepath.Join(t.TempDir(), "run"), run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return &side{Journal: j}
}

// Both builds of a pair take turns where operations are measured alone. Elsewhere their forks
// alternate, and each is first as often.
func TestScheduleOfAPair(t *testing.T) {
	t.Parallel()
	p := plan(t, Options{Preset: "quick", Components: []string{"store"}, Impls: []string{"clientgo"},
		SkipVerify: true, Forks: 4})
	run, err := p.record(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	run.Settings.Profile = true
	for _, turns := range []bool{true, false} {
		run.Settings.Turns = turns
		var sides []*side
		for range 2 {
			sides = append(sides, begun(t, run))
		}
		tasks, err := schedule(sides)
		if err != nil {
			t.Fatal(err)
		}
		first, forks := map[string][2]int{}, map[string][2]int{}
		together := 0
		for i, task := range tasks {
			w, err := workloadOf(run, task.Cell)
			if err != nil {
				t.Fatal(err)
			}
			if want := turns && !task.Profile && inTurns(w, ""); (len(task.sides) == 2) != want {
				t.Errorf("%s, turns %v, profile %v: %d sides in a task", task.Cell.ID(), turns, task.Profile,
					len(task.sides))
			}
			if len(task.sides) == 2 {
				together++
			}
			id := task.Cell.ID()
			for _, s := range task.sides {
				n := forks[id]
				n[slices.Index(sides, s)]++
				forks[id] = n
			}
			if len(task.sides) == 1 && (i == 0 ||
				fmt.Sprint(tasks[i-1].Planned) != fmt.Sprint(task.Planned)) {
				n := first[id]
				n[slices.Index(sides, task.sides[0])]++
				first[id] = n
			}
		}
		if (together > 0) != turns {
			t.Errorf("turns %v: %d tasks of both sides", turns, together)
		}
		for id, n := range forks {
			if n[0] != n[1] || n[0] < 4 {
				t.Errorf("%s: %v forks of base and head, want as many", id, n)
			}
		}
		total := [2]int{}
		for _, n := range first {
			total[0] += n[0]
			total[1] += n[1]
		}
		if d := total[0] - total[1]; d < -1 || d > 1 {
			t.Errorf("base is first in %d, head in %d", total[0], total[1])
		}
	}
}
