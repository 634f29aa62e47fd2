//go:build explore

package deltafifo_test

import (
	"testing"

	"github.com/informerbench/informerbench/internal/explore"
)

// faults are mistakes that a change of the intake could bring.
var faults = explore.Faults([]explore.Fault{
	{Name: "a Pop sleeps without looking again", File: "engine.go", Edits: [][2]string{{
		"	case in.mu.waiting.Len() > 0:\n		return false, nil\n",
		"	case in.mu.waiting.Len() > 0 && !explore.Planted(\"a Pop sleeps without looking " +
			"again\"):\n		return false, nil\n",
	}}},
	{Name: "a Close that wakes before it says so", File: "intake.go", Edits: [][2]string{{
		"func (e *engine) Close() {\n",
		"func (e *engine) Close() {\n	if explore.Planted(\"a Close that wakes before it says so\") " +
			"{\n		e.arrived.Broadcast()\n		e.in.mu.Lock()\n		e.in.mu.closed = " +
			"true\n		e.in.mu.Unlock()\n		return\n	}\n",
	}}},
	{Name: "a wake-up without the engine's lock", File: "intake.go", Edits: [][2]string{{
		"		e.mu.Lock()\n		e.arrived.Signal()\n		e.mu.Unlock()\n",
		"		if explore.Planted(\"a wake-up without the engine's lock\") {\n			e.arrived.Signal()\n		} " +
			"else {\n			e.mu.Lock()\n			e.arrived.Signal()\n			e.mu.Unlock()\n		}\n",
	}}},
	{Name: "a wake-up that is not passed on", File: "engine.go", Edits: [][2]string{{
		"	if e.mu.sleepers > 0 {\n",
		"	if e.mu.sleepers > 0 && !explore.Planted(\"a wake-up that is not passed on\") {\n",
	}}},
	{Name: "HasSynced before the first list is processed", File: "engine.go", Edits: [][2]string{{
		"	if n == 0 {\n		e.synced.finish()",
		"	if n == 0 || explore.Planted(\"HasSynced before the first list is processed\") " +
			"{\n		e.synced.finish()",
	}}},
	{Name: "a list that does not look again whether a process runs", File: "engine.go",
		Edits: [][2]string{{
			"			if !e.idleLocked() {\n",
			"			if !e.idleLocked() || explore.Planted(\"a list that does not look again whether a process " +
				"runs\") {\n",
		}}},
	{Name: "a process that ends without looking for a list", File: "engine.go", Edits: [][2]string{{
		"	if e.unsettled.Load() {\n		e.settleRest()\n",
		"	if e.unsettled.Load() && !explore.Planted(\"a process that ends without looking for a " +
			"list\") {\n		e.settleRest()\n",
	}}},
	{Name: "a lone event before one that waits elsewhere", File: "engine.go", Edits: [][2]string{{
		"|| in.mu.waiting.Front().kind > updated || !in.caughtUp.Load() {\n",
		"|| in.mu.waiting.Front().kind > updated || !in.caughtUp.Load() && !explore.Planted(\"a lone " +
			"event before one that waits elsewhere\") {\n",
	}}},
	{Name: "a lone event before one that was put back", File: "engine.go", Edits: [][2]string{{
		"		e.in.lock()\n		e.in.caughtUp.Store(false)\n",
		"		e.in.lock()\n		e.in.caughtUp.Store(explore.Planted(\"a lone event before one that was put " +
			"back\"))\n",
	}}},
	{Name: "a run that began with a lone event and is not counted", File: "engine.go",
		Edits: [][2]string{{
			"	in.mu.lone++\n",
			"	if !explore.Planted(\"a run that began with a lone event and is not counted\") " +
				"{\n		in.mu.lone++\n	}\n",
		}}},
	{Name: "the segments taken without the intake's lock", File: "intake.go", Edits: [][2]string{{
		"	in.lock()\n	defer in.mu.Unlock()\n	*lone = in.mu.lone\n",
		"	if explore.Planted(\"the segments taken without the intake's lock\") {\n		c, lists, first = " +
			"in.mu.waiting, in.mu.lists, in.mu.first\n		explore.Point(\"planted\")\n		in.mu.waiting, " +
			"in.mu.lists, in.mu.first = events{}, 0, 0\n		return c, lists, first\n	}\n	in.lock()\n	defer " +
			"in.mu.Unlock()\n	*lone = in.mu.lone\n",
	}}},
})

// TestExplorePlantedFaults activates one fault after the other and explores the programs of
// this package until one fails.
func TestExplorePlantedFaults(t *testing.T) {
	explore.Plant(t, faults, func(t *testing.T) { explore.MustFind(t, explored().Programs) })
}
