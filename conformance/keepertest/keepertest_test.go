package keepertest

import (
	"slices"
	"testing"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

func TestEveryClauseHasACase(t *testing.T) {
	for _, clause := range contract.ClausesOf(contract.ComponentObjects) {
		if !slices.ContainsFunc(cases, func(c suite.Case[constructor]) bool {
			return c.Clause == clause.ID
		}) {
			t.Errorf("%s has no case", clause)
		}
	}
}
