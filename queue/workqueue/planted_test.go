//go:build explore

package workqueue

import (
	"testing"

	"github.com/informerbench/informerbench/internal/explore"
)

// faults are mistakes that a change of the queues could bring.
var faults = explore.Faults([]explore.Fault{
	{Name: "a wake-up that is not passed on", File: "workers.go", Edits: [][2]string{{
		"	w.ready--\n",
		"	w.ready--\n	if explore.Planted(\"a wake-up that is not passed on\") " +
			"{\n		w.processing++\n		return false\n	}\n",
	}}},
	{Name: "a shutdown that wakes one", File: "workers.go", Edits: [][2]string{{
		"	w.nonEmpty.Broadcast()\n",
		"	if explore.Planted(\"a shutdown that wakes one\") {\n		w.nonEmpty.Signal()\n	} else " +
			"{\n		w.nonEmpty.Broadcast()\n	}\n",
	}}},
	{Name: "a drain that looks once", File: "workers.go", Edits: [][2]string{{
		"	w.processing--\n",
		"	w.processing--\n	if explore.Planted(\"a drain that looks once\") {\n		return\n	}\n",
	}}},
	{Name: "an item added while processed is forgotten", File: "queue.go", Edits: [][2]string{{
		"	case n.state() == processing:\n",
		"	case n.state() == processing && explore.Planted(\"an item added while processed is " +
			"forgotten\"):\n	case n.state() == processing:\n",
	}}},
	{Name: "what the alarm sleeps until is read before the heap's lock", File: "delaying.go",
		Edits: [][2]string{{
			"	h.mu.Lock()\n	wake := false\n",
			"	armed := q.armed\n	h.mu.Lock()\n	wake := false\n",
		}, {
			"		wake = q.armed.IsZero() || readyAt.Before(q.armed)\n",
			"		if !explore.Planted(\"what the alarm sleeps until is read before the heap's lock\") " +
				"{\n			armed = q.armed\n		}\n		wake = armed.IsZero() || readyAt.Before(armed)\n",
		}}},
	{Name: "the priority queue's alarm is not woken", File: "priority.go", Edits: [][2]string{{
		"	return q.mu.armed.IsZero() || readyAt.Before(q.mu.armed)\n",
		"	return q.mu.armed.IsZero() || readyAt.Before(q.mu.armed) && !explore.Planted(\"the priority " +
			"queue's alarm is not woken\")\n",
	}}},
})

// TestExplorePlantedFaults activates one fault after the other and explores the programs of
// this package until one fails.
func TestExplorePlantedFaults(t *testing.T) {
	explore.Plant(t, faults, func(t *testing.T) { explore.MustFind(t, suite().Programs) })
}
