//go:build explore

package mutants_test

import (
	"slices"
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/conformance/mutants"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/explore"
)

// interleaved are the broken stores whose mistake shows only when calls meet.
var interleaved = []string{
	"optimistic copy", "newer version of one chunk", "lists one write behind", "replace chunk by chunk", "indexers over a lost write",
	"list torn between shards", "keys torn between shards", "by-index torn between shards", "index torn between shards",
	"index-keys torn between shards", "values torn between shards", "replace shard by shard", "transaction shard by shard",
}

// TestExplorerFindsMutants: each of them is found in a minute, most in milliseconds.
func TestExplorerFindsMutants(t *testing.T) {
	all := mutants.Stores()
	for _, name := range interleaved {
		t.Run(name, func(t *testing.T) {
			i := slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Name == name })
			if i < 0 {
				t.Fatal("there is no such mutant")
			}
			explore.MustFind(t, probes(t, all[i].NewStore), time.Minute)
		})
	}
}

func probes(t *testing.T, newStore func(contract.Indexers) contract.Store) (programs []explore.Program) {
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
