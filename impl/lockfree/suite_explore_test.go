//go:build explore

package lockfree_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/internal/explore"
)

// scripts are the programs of TestExploreInterleavings, chosen by the mechanism that they
// put under stress.
var scripts = []string{
	// AddIndexers beside an open snapshot; objects then move to other values. The repeated
	// writes make the writer look at the slots.
	"one: add a:x/x => list | update a:x/x; addindexers many; tx *4 a:y/y a:x/x a:y/y",
	// An update beside Gets of the same key.
	"one: add a:x => update a:y; update a:x | get a; get a",
	"one: add a:x => update a:y | update a:z | get a; get a",
	// Objects of two types: the entry's value is emptied, and Get goes by the version.
	"one: add a:x => update a:x!; update a:x | get a; get a",
	"one: add a:x => update a:y | list; get a",
	// Deleted and there again.
	"one: add a:x => delete a; add a:x | get a; get a",
	"one: add a:x; add b:y => delete a; add a:x | list; list",
	"one: add a:x; add b:x => delete a; update b:y; add a:y | list | keys",
	// A transaction is seen whole or not at all.
	"one: add a:x; add b:x => tx a:y b:y | list | byindex one x",
	"one: add a:x; add b:x => tx a:y b-; tx b:x a:x | byindex one x; byindex one y",
	"one: add a:x => tx a- a:y a- | get a; list",
	// Buckets that are removed and made again.
	"one: add a:x => update a:y; update a:x | byindex one x; values one",
	"one: add a:x; add b:x => delete a; delete b; add a:x | byindex one x | values one",
	"one: add a:x => update a:y; update a:x; update a:y | index one a:x; indexkeys one y",
	"many: add a:x/xy => update a:x/y; update a:x/zxy | values many; index many a:x/xy",
	// A value that goes and comes back beside a reader of before, and writes enough between.
	"one: add a:x => list; byindex one x | update a:y; update a:x; update a:z | byindex one x; " +
		"values one",
	"one: add a:x => byindex one x; byindex one x | delete a; " + manyWrites +
		"; add a:x | values one",
	// An index that is added.
	"one: add a:x/x; add b:y/x => addindexers many; update a:y/y | byindex many x; byindex many y",
	"one: add a:x/x => addindexers many | update a:y/y | byindex many y; indexers",
	// Replace beside everything.
	"one: add a:x; add b:x => replace a:y c:x | list; get b | update b:z",
	"one: add a:x => replace b:x | get a; byindex one x | delete a",
	"one: add a:x => replace a:y | addindexers many | values one",
	"one: add a:x => replace a:x b:y; tx a:y b- | version; list",
	// Blocks and parts that grow, with -tags degraded at these sizes.
	"one: add a:x => add b:x; add c:x; add d:x | list; get c",
	"one: => add a:x; add b:y; add c:x; add d:y | keys; byindex one x",
	"one: add a:x; add b:x; add c:x; add d:x => delete d; delete c; delete b | list; byindex one x",
	// Copies of the blocks.
	"one: add a:x; add b:y; list; list => update a:y | list | list",
	"one: add a:x; add b:y; list => update a:y; update b:y | list; list | list",
	"one: add a:x; list; list => update a:y | list | list; list; list",
	// Versions that a snapshot keeps beside many writes: the writer looks at the slots.
	"one: add a:x => list | update a:y; " + manyWrites + "; update a:x; get a",
	"one: add a:x; add b:x => list; get a | delete b; " + manyWrites,
	"one: add a:x => byindex one x | update a:y; " + manyWrites,
	// Stand-ins that are used again.
	"one: add a:x; add b:x; add c:x; add d:x => delete a; delete b | list",
	"one: add a:x; add b:x; update a:y; update a:x => update b:y; update b:x; update a:y | byindex " +
		"one x | list",
	"one: add a:x; add b:x; delete a; add a:x => delete a; add a:x | list | byindex one x",
	// Resource versions.
	"one: add a:x => update a:y; bookmark | version; version",
	"one: add a:x => deletewith a:x | bookmark | version; get a",
	// Writes in place: updates that leave the index values as they are.
	"one: add a:x; add b:y => update a:x; update a:x | get a; get a",
	"one: add a:x; add b:y => update a:x; update b:y; update a:x | list | byindex one x; get b",
	"one: add a:x => update a:x | get a; list | list; get a",
	"one: add a:x; add b:y; list; list => update a:x; update b:y | list; list | get a; list",
	"one: add a:x; add b:y => update a:x; update a:y; update a:x | list; version | get a",
	"one: add a:x => update a:x; delete a; add a:x | get a; list",
	"one: add a:x; add b:y => replace a:x b:y; update a:x | get a; get a | list",
	"one: add a:x; add b:y; update a:x => update b:y; update a:x | version; get a | get b; version",
	"one: add a:x; add b:y => update a:x; update b:y; update a:x | version; version | list",
	"one: add a:x; add b:y => tx a:x; bookmark; update b:y | version; get b | version",
	"one: add a:x; update a:x => update a:x | version",
	"one: add a:x; add b:y => update a:x; delete a; update b:y | version | version",
	// Readers side by side, which find slots taken; with -tags degraded one of them finds no
	// free slot in the first block.
	"one: add a:x => update a:y; update a:x | list | keys | list",
	"one: add a:x => update a:y; tx *4 a:x a:y | list; get a | list | keys",
	"one: add a:x => update a:y; delete a | list | keys | byindex one x",
}

// manyWrites leave more versions and stand-ins than the writer keeps before it looks at the
// slots, though a snapshot is open. One transaction would not: it makes one of each for a key.
var manyWrites = strings.Join(slices.Repeat([]string{"update b:y", "update b:z"}, 17), "; ")

// In the builds of these tests each atomic operation of the package is a point.
func init() {
	explore.Instrument(explore.Code{
		// What readers read plainly, of a version or a stand-in that they have found, and where the
		// writer stores it.
		Plain: []string{"record.data", "standIn.of", "standIn.seq", "version.obj", "version.seq"},
		Quiet: slices.Concat(ofWriter, unreachable, constant),
	})
}

// ofWriter are the writer's loads of what it alone changes.
var ofWriter = []string{
	"Update.view.*", "DeleteWithObject.view.*", "Transaction.view.*", "Bookmark.view.*",
	"AddIndexers.view.Load", "Replace.view.Load", "begin.*", "commit.*.Load", "withFilled.*",
	"valuesOfAll.*", "insert.*.Load", "insertKey.*.Load", "keeps.*", "rebuild.*.Load", "shrink.*",
	"size.*", "sparse.*", "fetch.*", "shows.*", "push.*.Load", "cell.*", "remove.*", "standIn.*.Load",
	"reserve.*.Load", "trim.*.Load", "touch.blocks.*", "touch.touched.Load", "bucket.until.Load",
	"retireBucket.*", "reclaim.*.Load", "reclaim.*.Plain", "update.*.Load", "update.seq.*",
	"current.*", "since.*", "waits.*", "isNew.*", "hasPast.*", "absent.*", "settle.newest.Load",
	"settle.obj.*", "prune.*.Load", "prune.seq.*", "inPlace.newest.*", "set.newest.Load", "note.*",
}

// unreachable are operations on what no reader finds yet, or any more.
var unreachable = []string{
	"New.*", "newCore.*", "init.*", "newBucket.*", "bucket.prior.Store", "put.newest.*",
	"moveCells.*", "move.*", "standIn.newest.Store", "standIn.seq.*", "standIn.of.*", "reset.prior.*",
	"reset.cell.*", "reset.used.*", "grow.*", "indexAndStore.*", "makeRecords.*", "fillTable.*",
	"fillBuckets.*", "do.*",
}

// constant are loads of what does not change once it is found, and of hints. Where a thread
// yields, it has just closed its snapshot.
var constant = []string{
	"at.newest.*", "at.of.*", "record.item.*", "is.item.*", "lower.first.*", "*.more.Load",
	"enter.used.*", "size.used.*", "*.Gosched.*",
}

func explored(t *testing.T, texts []string) explore.Suite {
	parse := func(text string) (explore.Program, error) { return linear.Program(text, newLockFree) }
	must := func(text string) explore.Program {
		p, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	s := explore.Suite{Share: 0.3, Draw: func(r *rand.Rand) explore.Program {
		return must(linear.DrawScript(r))
	}, Parse: parse}
	for _, text := range texts {
		s.Programs = append(s.Programs, must(text))
	}
	return s
}

// TestExploreInterleavings explores the programs, and random ones. A failure prints the flags that
// replay it.
func TestExploreInterleavings(t *testing.T) { explored(t, scripts).Check(t) }
