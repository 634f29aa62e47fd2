package compare

import (
	"time"

	"github.com/informerbench/informerbench/measure/record"
)

// Side says where the numbers of base or head come from. It is zero for a file.
type Side struct {
	Command  []string // that measured them, as it was typed
	Started  time.Time
	Revision string // of the code, as sysinfo.Environment has it; "" if it is not known
	Forks    int    // of each cell, at least
}

func sideOf(r *record.Run) Side {
	return Side{Command: r.MadeBy(), Started: r.Started, Revision: r.Environment.Revision,
		Forks: r.Settings.Forks}
}

// referencesOf are the names of the reference implementations by component.
func referencesOf(r *record.Run) map[string]string {
	out := map[string]string{}
	for _, im := range r.Impls {
		if im.Reference {
			out[im.Component] = im.Name
		}
	}
	return out
}
