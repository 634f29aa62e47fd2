package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/contract"
)

// history is a random sequence of calls on a store and on the model. Its log is the list of
// calls that rapid prints of a failure once it has shrunk it.
type history struct {
	*rapid.T
	subject
	// keys are all that it may use. With many of them a draw stands for a run of calls on
	// keys in a row, so that a long history has few draws and rapid shrinks it quickly.
	keys []string
	seq  int            // of the newest object
	held []func() error // each tells whether a result that the store returned has changed
}

// fewKeys are the keys of short histories.
var fewKeys = []string{"", "a", "b", "c", "d", "ns/e"}

func (h *history) long() bool { return len(h.keys) > len(fewKeys) }

// deed is one kind of random step.
type deed struct {
	name    string
	do      func(h *history)
	clauses []string // it is left out if one of them is waived
}

var (
	randomOne  = rapid.SampledFrom([]string{"a", "b", "c", "node"})
	randomMany = rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y", "z"}), 0, 3)
	randomSome = rapid.SampledFrom([]string{"", "", "p", "q"})
	yesOrNo    = rapid.Bool()
)

// number draws 0 to most.
func (h *history) number(label string, most int) int {
	return rapid.IntRange(0, most).Draw(h.T, label)
}

func (h *history) key() string { return rapid.SampledFrom(h.keys).Draw(h.T, "key") }

func (h *history) index() string { return rapid.SampledFrom(h.m.indexes).Draw(h.T, "index") }

func (h *history) next() int {
	h.seq++
	return h.seq
}

// draw draws an object. Nodes come and go as the history goes on.
func (h *history) draw() *item {
	key, value := h.key(), randomOne.Draw(h.T, "one")
	if value == "node" {
		value += strconv.Itoa(h.seq / 100)
	}
	i := newItem(key, h.next(), value, randomMany.Draw(h.T, "many")...).
		withMaybe(randomSome.Draw(h.T, "maybe"))
	if h.long() && h.number("metadata", 9) == 9 {
		return i.withoutMeta()
	}
	return i
}

func (h *history) drawPoisoned(index string) *item {
	return h.draw().poisoned(index, yesOrNo.Draw(h.T, "by a panic"))
}

// objects draws up to most objects: one by one, or in a long history a run of them.
func (h *history) objects(most int) []*item {
	items := make([]*item, h.number("objects", most))
	first := 0
	if h.long() {
		first = h.number("first key", len(h.keys)-1)
	}
	for n := range items {
		if !h.long() {
			items[n] = h.draw()
			continue
		}
		at := (first + n) % len(h.keys)
		if items[n] = shaped(h.keys[at], at, h.next()); h.seq%10 == 0 {
			items[n].withoutMeta()
		}
	}
	return items
}

// puts returns the writes of these items.
func puts(items []*item) (all writes) {
	for _, i := range items {
		all = append(all, add(i))
	}
	return all
}

// batch draws the writes of a Transaction.
func (h *history) batch() (all writes) {
	most, mix := len(h.keys), 0
	if h.long() {
		most, mix = 150, h.number("mix", 3)
	}
	for n, i := range h.objects(most) {
		kind := (mix + n*(mix%2)) % 3 // all of a kind, or in turns
		if !h.long() {
			kind = h.number("kind", 2)
		}
		switch kind {
		case 0:
			all = append(all, update(i))
		case 1:
			all = append(all, add(i))
		default:
			all = append(all, remove(i.key))
			if i.seq%2 == 0 {
				all[n].Object = i.stored()
			}
		}
	}
	return all
}

// writes is a list of writes whose text is that of the first ones.
type writes []contract.StoreTransaction

func (w writes) String() string {
	var b strings.Builder
	for n, next := range w {
		if n == 10 {
			b.WriteString(" and so on")
			break
		}
		fmt.Fprintf(&b, " %s(%q, %v)", next.Type, next.Key, next.Object)
	}
	return fmt.Sprintf("%d:%s", len(w), &b)
}

// each makes the writes one by one, on the store and on the model.
func (h *history) each(all ...contract.StoreTransaction) {
	h.Logf("Writes %v", writes(all))
	h.write(all...)
}

// mustFail fails the history unless the call panics, with what bad panics with if it does.
func (h *history) mustFail(bad *item, call func(), format string, args ...any) {
	h.Logf(format, args...)
	p := panicOf(call)
	if p == nil || bad.panics && p != any(errPoison{bad.name}) {
		h.must(fmt.Errorf("the IndexFunc fails on %v, and the call panics with %v (STORE-27)", bad, p))
	}
}

// must fails the history on an error: on one line and with one text, because rapid gives up
// shrinking where the same calls fail with two texts, as those of a store that answers in
// random order.
func (h *history) must(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		h.Log(err)
		h.Fatal("store and model disagree; how, say the last lines below")
	}
}

// results calls f with results that the store returned.
func (h *history) results(objects func(string, []any), strings func(string, []string)) {
	objects("List", h.s.List())
	strings("ListKeys", h.s.ListKeys())
	for _, index := range h.m.indexes {
		value := "no such value"
		if values := indexValues(h.m.all(), index); len(values) > 0 {
			value = values[0]
		}
		got, err := h.s.ByIndex(index, value)
		h.must(err)
		objects("ByIndex", got)
		keys, err := h.s.IndexKeys(index, value)
		h.must(err)
		strings("IndexKeys", keys)
		strings("ListIndexFuncValues", h.s.ListIndexFuncValues(index))
	}
}

// hold keeps a result until the store is next compared.
func hold[E comparable](h *history) func(call string, got []E) {
	return func(call string, got []E) {
		was := slices.Clone(got)
		h.held = append(h.held, func() error {
			if !slices.Equal(got, was) {
				return fmt.Errorf("later calls changed what %s had returned: %v, was %v", call, got, was)
			}
			return nil
		})
	}
}

// spoil overwrites a result and what append would write to.
func spoil[E any](_ string, got []E) { clear(got[:cap(got)]) }

var (
	doAdd    = deed{name: "add", do: func(h *history) { h.each(add(h.draw())) }}
	doUpdate = deed{name: "update", do: func(h *history) { h.each(update(h.draw())) }}
	doDelete = deed{name: "delete", do: func(h *history) { h.each(remove(h.key())) }}

	doReplace = deed{name: "replace", do: func(h *history) {
		items, version := h.objects(len(h.keys)), strconv.Itoa(h.next())
		h.Logf("Replace %v, version %s", puts(items), version)
		h.replace(version, items...)
	}}
	doTransaction = deed{"transaction", func(h *history) {
		if b, ok := h.s.(contract.Transactor); ok {
			writes := h.batch()
			h.Logf("Transaction %v", writes)
			b.Transaction(writes...)
			h.m.apply(writes...)
		}
	}, []string{"STORE-37"}}
	doAddIndexers = deed{"add-indexers", func(h *history) {
		names := []string{one, many, maybe}
		if h.long() {
			names = append(names, own, ownToo)
		}
		names = rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 2, rapid.ID).Draw(h.T, "indexes")
		h.Logf("AddIndexers(%q)", names)
		before := h.m.indexes
		taken := slices.ContainsFunc(names, func(name string) bool {
			return slices.Contains(before, name)
		})
		if err := h.addIndexers(names...); (err != nil) != taken {
			h.must(fmt.Errorf("AddIndexers(%q) gave the error %v where the store had %q (STORE-24)",
				names, err, before))
		}
		if taken {
			h.m.indexes = before
		}
	}, []string{"STORE-23", "STORE-24"}}

	failWrite = deed{"failing-write", func(h *history) {
		i := h.drawPoisoned(h.index())
		h.mustFail(i, func() { h.s.Update(i.key, i.stored()) }, "Update(%q, %v)", i.key, i)
	}, []string{"STORE-27", "STORE-28"}}
	failReplace = deed{"failing-replace", func(h *history) {
		i := h.drawPoisoned(h.index())
		items := append(h.objects(len(h.keys)), i)
		h.mustFail(i, func() { h.s.Replace(newModel(items...).asMap(), "failed") },
			"Replace %v", puts(items))
	}, []string{"STORE-27", "STORE-29"}}
	failTransaction = deed{"failing-transaction", func(h *history) {
		if b, ok := h.s.(contract.Transactor); ok {
			i := h.drawPoisoned(h.index())
			writes := slices.Concat(h.batch(), writes{update(i)},
				slices.DeleteFunc(h.batch(), func(w contract.StoreTransaction) bool { return w.Key == i.key }))
			h.mustFail(i, func() { b.Transaction(writes...) }, "Transaction %v", writes)
		}
	}, []string{"STORE-27", "STORE-39"}}
	// An object on which only an index fails that the store does not have is stored.
	failAddIndexers = deed{"failing-add-indexers", func(h *history) {
		index := fmt.Sprint("added ", h.next())
		i := h.drawPoisoned(index)
		h.each(update(i))
		h.mustFail(i, func() { _ = h.s.AddIndexers(indexers(index, index+", too")) },
			"AddIndexers(%q)", index)
		for _, name := range []string{index, index + ", too"} {
			if _, err := h.s.ByIndex(name, "p"); err == nil {
				h.must(fmt.Errorf("AddIndexers has failed, and the store has the index %q", name))
			}
		}
		if yesOrNo.Draw(h.T, "delete it") {
			h.each(remove(i.key))
		}
	}, []string{"STORE-27", "STORE-30"}}
	failIndex = deed{"failing-index", func(h *history) {
		i := h.drawPoisoned(h.index())
		h.Logf("Index(%s, %v)", i.poison, i)
		h.must(askFailing(h.s, i))
	}, []string{"STORE-31"}}

	doWriteMany = deed{name: "write-many", do: func(h *history) {
		all := puts(h.objects(len(h.keys)))
		if yesOrNo.Draw(h.T, "update") {
			for n := range all {
				all[n].Type = contract.TransactionTypeUpdate
			}
		}
		h.each(all...)
	}}
	doDeleteMany = deed{"delete-many", func(h *history) {
		give := yesOrNo.Draw(h.T, "with the object")
		var all writes
		for n, i := range h.objects(len(h.keys)) {
			all = append(all, remove(i.key))
			if give {
				all[n].Object = i.stored()
			}
		}
		h.each(all...)
	}, []string{"STORE-41"}}
	// An object again, under its own key or another one: then the store holds it twice.
	doAgain = deed{name: "again", do: func(h *history) {
		if i := h.m.items[h.key()]; i != nil {
			w := update(i)
			w.Key = h.key()
			h.each(w)
		}
	}}
	doBookmark = deed{"bookmark", func(h *history) {
		if v, ok := h.s.(contract.ResourceVersioner); ok {
			h.m.version, h.m.versionOpen = strconv.Itoa(h.next()), false
			h.Logf("Bookmark(%q)", h.m.version)
			v.Bookmark(h.m.version)
		}
	}, []string{"STORE-40"}}
	doReplaceNil = deed{"replace-nil", func(h *history) {
		h.Logf("Replace(nil)")
		h.m.replace(map[string]*item{}, "nil")
		h.s.Replace(nil, "nil")
	}, []string{"STORE-21"}}

	doAsk = deed{name: "ask", do: func(h *history) {
		index, key, value := h.index(), h.key(), "no such value"
		probe := h.m.items[key]
		if probe == nil || probe.poison != "" {
			probe = h.draw()
		}
		if values := probe.valuesIn(index); len(values) > 0 {
			value = values[len(values)-1]
		}
		_, unknown := h.s.ByIndex("no such index", value)
		if unknown == nil {
			h.must(errors.New("ByIndex of an index that does not exist gave no error (STORE-17)"))
		}
		h.must(h.m.checkGet(h.s, key), h.m.checkValue(h.s, index, value, h.m.having(index, value)),
			h.m.checkIndex(h.s, index, probe))
	}}
	doCompare = deed{name: "compare", do: func(h *history) {
		h.must(h.m.check(h.s), differs("GetIndexers",
			slices.Collect(maps.Keys(h.s.GetIndexers())), h.m.indexes))
		for _, changed := range h.held {
			h.must(changed())
		}
		h.held = nil
	}}
	doAskVersion = deed{"ask-version", func(h *history) { h.must(h.m.checkVersion(h.s)) },
		[]string{"STORE-40", "STORE-41", "STORE-42", "STORE-43"}}
	doHold = deed{"hold", func(h *history) { h.results(hold[any](h), hold[string](h)) },
		[]string{"STORE-6"}}
	doSpoil = deed{"spoil", func(h *history) {
		h.Logf("the caller overwrites what the store returns")
		h.results(spoil[any], spoil[string])
	}, []string{"STORE-6"}}
	doSpoilIndexers = deed{"spoil-indexers", func(h *history) {
		h.Logf("the caller changes the map of GetIndexers")
		got := h.s.GetIndexers()
		clear(got)
		if got != nil {
			got["no such index"] = nil
		}
	}, []string{"STORE-26"}}
)
