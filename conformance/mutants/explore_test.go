//go:build explore

package mutants

import (
	"slices"
	"testing"

	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/explore"
)

// In the build of these tests each call of client-go's store is a step, and so is each atomic
// operation of the mutants.
func init() {
	explore.Instrument(explore.Code{Edits: []explore.Fault{{Name: "steps", File: "stores.go",
		Edits: [][2]string{{
			"return cache.NewThreadSafeStore(own, cache.Indices{}).(base)",
			"return linear.Stepped(cache.NewThreadSafeStore(own, cache.Indices{}).(base))",
		}, {
			"	\"github.com/informerbench/informerbench/contract\"\n",
			"	\"github.com/informerbench/informerbench/conformance/linear\"\n	" +
				"\"github.com/informerbench/informerbench/contract\"\n",
		}},
	}}})
}

// interleaved are the broken stores whose mistake shows only when calls meet.
var interleaved = []string{
	"optimistic copy", "newer version of one chunk", "lists one write behind",
	"replace chunk by chunk", "indexers over a lost write",
	"list by keys", "by-index by keys", "index value by value", "update as delete and add",
	"replace as empty and fill", "transaction one by one",
}

// TestExploreFindsMutants: each of them is found in a minute, most in milliseconds.
func TestExploreFindsMutants(t *testing.T) {
	all := Stores()
	for _, name := range interleaved {
		t.Run(name, func(t *testing.T) {
			i := slices.IndexFunc(all, func(m Mutant) bool { return m.Name == name })
			if i < 0 {
				t.Fatal("there is no such mutant")
			}
			explore.MustFind(t, probes(t, all[i].NewStore))
		})
	}
}

// TestExploreAccusesNoSoundStore: the stores that the mutants stand on pass.
func TestExploreAccusesNoSoundStore(t *testing.T) {
	for name, newStore := range map[string]func(contract.Indexers) contract.Store{
		"client-go": func(ix contract.Indexers) contract.Store { return newBase(ix) },
		"snapshots": func(ix contract.Indexers) contract.Store { return newSnapshots(ix) },
	} {
		t.Run(name, func(t *testing.T) {
			if f := explore.Find(probes(t, newStore), 20_000); f != nil {
				t.Error(f)
			}
		})
	}
}

func probes(t *testing.T, newStore func(contract.Indexers) contract.Store) (
	programs []explore.Program) {
	t.Helper()
	for _, text := range linear.Probes {
		p, err := linear.Program(text, newStore)
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, p)
	}
	return programs
}
