package objects_test

import (
	"testing"

	"github.com/informerbench/informerbench/conformance/keepertest"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/objects"
)

func TestPlainKeepsTheClauses(t *testing.T) {
	keepertest.Run(t, func() contract.ObjectKeeper { return objects.Plain{} })
}
