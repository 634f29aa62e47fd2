package metamorphic

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/contract"
)

// Store is one of the stores that are compared.
type Store struct {
	Name string
	// New constructs an empty store with the given indexers. Each call returns a store of
	// its own.
	New func(contract.Indexers) contract.Store
	// Waived maps the number of each clause that the store does not keep to the reason.
	Waived map[string]string
}

func (s Store) waives(clauses ...string) bool {
	return slices.ContainsFunc(clauses, func(c string) bool { return s.Waived[c] != "" })
}

// The defaults of a Config.
const (
	DefaultCalls    = 50_000
	DefaultKeys     = 2_000
	DefaultPatience = 6 * time.Second
	DefaultReplays  = 2_000_000
)

// Config chooses the history. The zero value is a history of the default sizes with a
// random seed.
type Config struct {
	Seed  uint64 // repeats the history of an earlier run of the same sizes; 0 draws one
	Calls int    // the history's length; 0 means DefaultCalls
	Keys  int    // the number of keys, thus the most objects at once; 0 means DefaultKeys
	// Patience is how long one call may take, counted as suite.Guard describes; 0 means
	// DefaultPatience. The reduction of a history in which a call hangs waits for that call
	// up to ten times, a twentieth of Patience each.
	Patience time.Duration
	// Replays bounds the number of calls that the reduction of a failing history may make.
	// 0 means DefaultReplays, which takes some seconds.
	Replays int
	// Logf receives what is left out for waivers; nil discards it.
	Logf func(format string, args ...any)
}

func (c Config) withDefaults() (Config, error) {
	if c.Calls < 0 || c.Keys < 0 || c.Patience < 0 || c.Replays < 0 {
		return c, errors.New("metamorphic: the sizes of a Config are 0 (the default) or more")
	}
	defaults := func(n *int, d int) {
		if *n == 0 {
			*n = d
		}
	}
	defaults(&c.Calls, DefaultCalls)
	defaults(&c.Keys, DefaultKeys)
	defaults(&c.Replays, DefaultReplays)
	if c.Patience == 0 {
		c.Patience = DefaultPatience
	}
	for c.Seed == 0 {
		c.Seed = rand.Uint64()
	}
	if c.Logf == nil {
		c.Logf = func(string, ...any) {}
	}
	return c, nil
}

// Run plays a history on the stores and fails the test if they disagree.
func Run(t *testing.T, stores []Store, cfg Config) {
	t.Helper()
	if cfg.Logf == nil {
		cfg.Logf = t.Logf
	}
	if err := Check(stores, cfg); err != nil {
		t.Fatal(err)
	}
}

// Check is Run without testing.T. It returns nil if all stores agree, and a *Failure if
// not. It returns another error if the stores or the Config are invalid.
func Check(stores []Store, cfg Config) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	if err := named(stores); err != nil {
		return err
	}
	if len(stores) == 0 {
		return errors.New("metamorphic: no store to play on")
	}
	if err := admit(stores, cfg.Logf); err != nil {
		return err
	}
	h := generate(cfg.Seed, cfg.Calls, cfg.Keys)
	if d := play(h, stores, cfg.Patience); d != nil {
		return explain(h, stores, cfg, d)
	}
	return nil
}

// named returns an error unless every store has a name of its own, a constructor and valid
// waivers.
func named(stores []Store) error {
	seen := map[string]bool{}
	for i, s := range stores {
		switch {
		case s.Name == "" || s.New == nil:
			return fmt.Errorf("metamorphic: store %d (%q) lacks a name or a constructor", i, s.Name)
		case seen[s.Name]:
			return fmt.Errorf("metamorphic: two stores are called %q", s.Name)
		}
		seen[s.Name] = true
		for clause, reason := range s.Waived {
			if _, err := contract.LookupClause(clause); err != nil || reason == "" {
				return fmt.Errorf("metamorphic: store %s waives %q, because %q: give a clause and a reason",
					s.Name, clause, reason)
			}
		}
	}
	return nil
}

// spared lists the clauses that a store may waive and still take part, and what the history
// spares it then.
var spared = map[string]string{
	"STORE-6":  "what it returns is not overwritten",
	"STORE-14": "its IndexKeys may come in any order",
	"STORE-21": "it is given an empty map where others are given nil",
	"STORE-26": "the map of its GetIndexers is left as it is",
	"STORE-27": "no IndexFunc fails on its writes",
	"STORE-28": "no IndexFunc fails on its Adds and Updates",
	"STORE-29": "no IndexFunc fails on its Replaces",
	"STORE-30": "no IndexFunc fails on its AddIndexers",
	"STORE-31": "no IndexFunc failure of its Index is looked at",
	"STORE-33": "Resync is not called",
	"STORE-37": "its Transactions are made write by write",
	"STORE-39": "no IndexFunc fails on its Transactions",
	"STORE-40": "its resource version is not asked",
	"STORE-41": "its resource version is not asked",
	"STORE-42": "its resource version is not asked",
	"STORE-43": "its resource version is not asked",
}

// untouched are the clauses that no history touches: those that only concurrent calls can break,
// and
// those on an IndexFunc that returns one slice again, on the cost of a write, on AppendList and
// AppendByIndex, on the words of errors, and on memory.
var untouched = []string{
	"STORE-7", "STORE-8", "STORE-9", "STORE-10", "STORE-11", "STORE-12", "STORE-32", "STORE-34",
	"STORE-35", "STORE-36", "STORE-38", "STORE-44", "STORE-48",
	"STORE-47", "STORE-49", "STORE-51", "STORE-52", "STORE-53",
}

// admit logs what the stores are spared for the clauses that they waive. The error names a store
// that waives a clause on which every history depends.
func admit(stores []Store, logf func(string, ...any)) error {
	for _, s := range stores {
		var reasons []string
		for _, clause := range slices.Sorted(maps.Keys(s.Waived)) {
			if slices.Contains(untouched, clause) {
				continue
			}
			what, known := spared[clause]
			if !known {
				return fmt.Errorf(
					"metamorphic: store %s waives %s (%s), on which every history depends: leave the store out",
					s.Name, clause, s.Waived[clause])
			}
			reasons = append(reasons, fmt.Sprintf("%s waived (%s): %s", clause, s.Waived[clause], what))
		}
		if len(reasons) > 0 {
			logf("%s: %s", s.Name, strings.Join(reasons, "; "))
		}
	}
	return nil
}
