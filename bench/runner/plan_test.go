package runner

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/load"
)

// The default preset spends its budget on what is inconclusive, unless the user settles how
// many processes there are.
func TestPresetsBudget(t *testing.T) {
	t.Parallel()
	quick, err := load.LookupPreset(load.DefaultPreset)
	if err != nil {
		t.Fatal(err)
	}
	if quick.Budget == 0 {
		t.Fatal("the default preset has no budget: nothing to test")
	}
	for _, c := range []struct {
		name string
		o    Options
		want time.Duration
	}{
		{"no flags", Options{}, quick.Budget},
		{"the number of forks", Options{Forks: DefaultForks}, 0},
		{"a budget", Options{Budget: time.Second}, time.Second},
		{"both", Options{Forks: 2, Budget: time.Second}, time.Second},
		{"several presets", Options{Preset: load.DefaultPreset + ",stores"}, 0},
		{"another preset", Options{Preset: "stores"}, 0},
	} {
		if p := plan(t, c.o); p.options.Budget != c.want || p.options.Forks < 1 {
			t.Errorf("%s: a budget of %s and %d forks, want %s", c.name, p.options.Budget, p.options.Forks, c.want)
		}
	}
}
