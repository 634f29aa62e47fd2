package report

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// Somebody who has never seen a report asks five questions. The first screen answers each, or
// has the link that does.
func TestPageAnswersAStranger(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), withPrice()
	if err := recordtest.AddProfiles(dir, r, storeStacks); err != nil {
		t.Fatal(err)
	}
	profiles, warnings := ReadProfiles(folder(t, dir), r)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	root, _ := pageWith(t, r, profiles)
	first := byID(root, "answer")
	if first == nil {
		t.Fatal("the page has no first screen")
	}
	card := byID(root, "answer-store")
	if card == nil {
		t.Fatalf("no answer for the store in %s", textWithin(first))
	}
	for _, q := range []struct {
		question string
		here     []string // texts of the card or of the card about trust
		there    []string // texts that one place linked from the card has
	}{
		{"which store?", []string{"store: use lockfree instead of clientgo", "0.50x ["}, nil},
		{"how sure?", []string{"comparisons are inconclusive", "How far to trust it",
			"implementations passed their suite", "the same code against itself", "8 for each number"}, nil},
		{"at what price?", []string{"The price, what is worse:", "memory per object", "3.0x ["},
			[]string{"heap-B/object", "worse"}},
		{"what did the reference do?", nil, []string{"get: ns/op", "clientgo", "100ns"}},
		{"where does the time go?", []string{"Where the time goes:"},
			[]string{"lockfree.(*Store).Get", "Functions with most CPU time"}},
	} {
		text := textWithin(card) + textWithin(byID(root, "trust"))
		for _, want := range q.here {
			if !strings.Contains(text, want) {
				t.Errorf("%s The first screen lacks %q: %s", q.question, want, text)
			}
		}
		if len(q.there) > 0 && !slices.ContainsFunc(linksFrom(root, card), func(place string) bool {
			return !slices.ContainsFunc(q.there, func(want string) bool {
				return !strings.Contains(place, want)
			})
		}) {
			t.Errorf("%s No link of the first screen leads to %q", q.question, q.there)
		}
	}
}

// withPrice is a run of a store that is faster than the reference and takes more memory.
func withPrice() *record.Run {
	r := recordtest.Run(
		recordtest.Spec{Forks: 8, Duets: true,
			Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100}, {Name: "lockfree", NsPerOp: 50}}})
	for i := range r.Forks {
		f := &r.Forks[i]
		f.Process["heap-B/object"] = 100 + float64(i%3)
		if f.Cell.Impl == "lockfree" {
			f.Process["heap-B/object"] *= 3
		}
	}
	return r
}

// The same price in two workloads is told apart by the workload.
func TestPricesOfTwoWorkloads(t *testing.T) {
	t.Parallel()
	r := withPrice()
	for _, f := range slices.Clone(r.Forks) {
		f.Cell.Params = []record.Param{{Key: "objects", Value: "1000"}}
		r.Forks = append(r.Forks, f)
	}
	for _, c := range slices.Clone(r.Cells) {
		c.Params = []record.Param{{Key: "objects", Value: "1000"}}
		r.Cells = append(r.Cells, c)
	}
	root, _ := pageWith(t, r, nil)
	card := textWithin(byID(root, "answer-store"))
	if n, of := strings.Count(card, "memory per object of store-ops/objects=10"),
		strings.Count(card, "memory per object of store-ops/objects=1000"); n != 2 || of != 1 {
		t.Errorf("the card does not tell the two prices apart: %s", card)
	}
}

func byID(root *html.Node, id string) *html.Node {
	for n := range root.Descendants() {
		if attribute(n, "id") == id {
			return n
		}
	}
	return nil
}

// linksFrom are the texts of the places in the page to which links of n lead.
func linksFrom(root, n *html.Node) (places []string) {
	for a := range n.Descendants() {
		if id, ok := strings.CutPrefix(attribute(a, "href"), "#"); ok && a.Data == "a" {
			if to := byID(root, id); to != nil {
				places = append(places, textWithin(to))
			}
		}
	}
	return places
}
