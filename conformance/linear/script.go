//go:build explore

package linear

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/explore"
)

// Script is a program for internal/explore: calls that threads make on one store,
// written as text.
//
//	one,many: add a:x; add b:y/xy => update a:y; delete b | list; byindex one x
//
// Before the colon stand the indexes of the store, then the calls that fill it, then the
// calls of each thread. An object a:x/yz/x has key a and the values x in index one, y and z
// in index many, and x in index maybe. An object with "!" at its end has no metadata. In a
// transaction (tx) a- deletes a. "*20" before a transaction's writes repeats them 20 times.
type Script struct {
	text    string
	start   bits
	keys    int
	setup   []*call
	threads [][]*call
	after   []*call // run by one thread when the others have ended
	last    int     // the last number that next returned
	legal   map[string]bool
}

// Program makes an explorable program of a script. The error says what is wrong with the
// text. When the threads have ended, one more thread reads the whole content, writes, and
// reads again, so that a store that stays broken shows it. Calls that the store does not
// have are left out.
func Program(text string, newStore NewStore) (explore.Program, error) {
	s, err := parseScript(text)
	if err != nil {
		return explore.Program{}, fmt.Errorf("script %q: %w", text, err)
	}
	return explore.Program{Name: text, New: func() ([]func(), func() error) {
		return s.begin(newStore)
	}}, nil
}

// begin makes a store, fills it, and returns the threads and the judge of one run.
func (s *Script) begin(newStore NewStore) (threads []func(), judge func() error) {
	h := &history{start: s.start, keys: s.keys}
	var clock int64
	store := newStore(indexers(s.start))
	clients := slices.Concat([][]*call{s.setup}, s.threads, [][]*call{s.after})
	bodies := make([]func(), len(clients))
	total := 0
	for _, calls := range clients {
		total += len(calls)
	}
	h.ops = make([]porcupine.Operation, 0, total)
	for n, calls := range clients {
		from := len(h.ops)
		for _, c := range calls {
			if c.kind.power != nil && !c.kind.power.has(store) {
				continue
			}
			if c.kind.prepare != nil {
				c.kind.prepare(c)
			}
			h.ops = append(h.ops, porcupine.Operation{ClientId: n, Input: c})
		}
		mine := h.ops[from:]
		bodies[n] = func() {
			for i := range mine {
				op := &mine[i]
				c := op.Input.(*call)
				if i > 0 {
					explore.Point("call")
				}
				clock++
				op.Call = clock
				got := c.kind.run(store, c)
				clock++
				op.Return = clock
				op.Output = c.read(got)
			}
		}
	}
	bodies[0]()
	return bodies[1 : len(bodies)-1], func() error {
		bodies[len(bodies)-1]()
		return s.judge(h)
	}
}

// mostLegal is the most histories that a script remembers as legal.
const mostLegal = 1 << 16

// judge asks porcupine once for each legal history: most schedules repeat an earlier
// history.
func (s *Script) judge(h *history) error {
	key := h.key()
	if s.legal[key] {
		return nil
	}
	if h.judge(0) != porcupine.Ok {
		var b strings.Builder
		b.WriteString("no order of the calls explains what they returned:\n")
		for _, op := range h.ops {
			fmt.Fprintf(&b, "  client %d, %3d to %3d: %s\n", op.ClientId, op.Call, op.Return,
				describe(op.Input.(*call), op.Output.(result), 0))
		}
		return fmt.Errorf("%s", b.String())
	}
	if len(s.legal) < mostLegal {
		s.legal[key] = true
	}
	return nil
}

// key returns a string that differs between different histories of one script.
func (h *history) key() string {
	b := make([]byte, 0, 32*len(h.ops))
	for _, op := range h.ops {
		r := op.Output.(result)
		b = append(b, byte(op.Call), byte(op.Call>>8), byte(op.Return), byte(op.Return>>8), byte(r.set),
			byte(r.version), byte(r.version>>8))
		for _, o := range append(r.at[:], r.twice) {
			if o != nil {
				b = append(b, byte(o.number), byte(o.number>>8))
			}
			b = append(b, ',')
		}
		if r.failed {
			b = append(b, '!')
		}
		b = append(b, r.odd...)
		b = append(b, ';')
	}
	return string(b)
}

func parseScript(text string) (*Script, error) {
	s := &Script{text: text, legal: map[string]bool{}, keys: maxKeys}
	head, rest, ok := strings.Cut(text, ":")
	setup, threads, ok2 := strings.Cut(rest, "=>")
	if !ok || !ok2 {
		return nil, fmt.Errorf("it is not of the form \"indexes: setup => thread | thread\"")
	}
	var err error
	if s.start, err = parseIndexes(head); err != nil {
		return nil, err
	}
	if s.setup, err = s.parseCalls(setup); err != nil {
		return nil, err
	}
	used := s.start
	for thread := range strings.SplitSeq(threads, "|") {
		calls, err := s.parseCalls(thread)
		if err != nil {
			return nil, err
		}
		for _, c := range calls {
			used |= c.adds
		}
		s.threads = append(s.threads, calls)
	}
	if s.after, err = s.parseCalls(afterwards(used)); err != nil {
		return nil, err
	}
	return s, nil
}

// afterwards reads everything, writes and reads again.
func afterwards(indexes bits) string {
	reads := []string{"list", "keys", "version"}
	for i, name := range indexNames {
		if indexes.has(i) {
			reads = append(reads, "values "+name, "byindex "+name+" x", "byindex "+name+" y",
				"indexkeys "+name+" z")
		}
	}
	writes := []string{"get a", "get b", "update a:z/xy/y", "update b:x/yz", "delete a", "delete c"}
	return strings.Join(slices.Concat(reads, writes, reads), ";")
}

func parseIndexes(text string) (some bits, err error) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		i := slices.Index(indexNames[:], name)
		if i < 0 {
			return 0, fmt.Errorf("no index %q, only %q", name, indexNames)
		}
		some |= bit(i)
	}
	return some, nil
}

func (s *Script) parseCalls(text string) (calls []*call, err error) {
	for part := range strings.SplitSeq(text, ";") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		c, err := s.parseCall(words[0], words[1:])
		if err != nil {
			return nil, fmt.Errorf("call %q: %w", strings.TrimSpace(part), err)
		}
		calls = append(calls, c)
	}
	return calls, nil
}

var scriptKinds = map[string]*kind{
	"add": add, "update": update, "delete": remove, "deletewith": removeObject, "replace": replace,
	"tx":       transaction,
	"bookmark": bookmark, "addindexers": addIndexers, "get": get, "list": list, "keys": listKeys,
	"byindex": byIndex,
	"index":   index, "indexkeys": indexKeys, "values": listValues, "indexers": getIndexers,
	"version": lastVersion,
}

func (s *Script) parseCall(name string, args []string) (*call, error) {
	c := &call{kind: scriptKinds[name]}
	want := map[*kind]int{add: 1, update: 1, remove: 1, removeObject: 1, addIndexers: 1, get: 1,
		byIndex: 2, index: 2, indexKeys: 2, listValues: 1}[c.kind]
	switch {
	case c.kind == nil:
		return nil, fmt.Errorf("no such call")
	case len(args) != want && c.kind != replace && c.kind != transaction:
		return nil, fmt.Errorf("it takes %d arguments", want)
	}
	var err error
	switch c.kind {
	case add, update, removeObject:
		var o *object
		if o, err = s.parseObject(args[0]); err != nil {
			return nil, err
		}
		c.key, c.version = o.key, o.version()
		if c.writes = []write{{key: o.key, object: o}}; c.kind == removeObject {
			c.writes = []write{{key: o.key, last: o}}
		}
	case remove:
		c.key, err = parseKey(args[0])
		c.writes = []write{{key: c.key}}
	case get:
		c.key, err = parseKey(args[0])
	case replace:
		c.whole, c.version = true, s.next()
		for _, arg := range args {
			o, err := s.parseObject(arg)
			if err != nil {
				return nil, err
			}
			c.writes = append(c.writes, write{key: o.key, object: o})
		}
	case transaction:
		err = s.parseBatch(c, args)
	case bookmark:
		c.version = s.next()
	case addIndexers:
		c.adds, err = parseIndexes(args[0])
	case byIndex, indexKeys, listValues, index:
		if c.index = slices.Index(indexNames[:], args[0]); c.index < 0 {
			return nil, fmt.Errorf("no index %q", args[0])
		}
		switch c.kind {
		case byIndex, indexKeys:
			n := slices.Index(valueNames[:], args[1])
			if n < 0 {
				return nil, fmt.Errorf("no value %q", args[1])
			}
			c.values = bit(n)
		case index:
			if c.probe, err = s.parseObject(args[1]); err == nil {
				c.values = c.probe.values[c.index]
			}
		}
	}
	return c, err
}

// parseBatch reads the writes of a transaction. The store takes its version from the last
// one, which must have metadata or be a deletion.
func (s *Script) parseBatch(c *call, args []string) error {
	times := 1
	if len(args) > 0 {
		if n, _ := fmt.Sscanf(args[0], "*%d", &times); n == 1 {
			args = args[1:]
		}
	}
	for range times {
		for _, arg := range args {
			w := write{as: contract.TransactionTypeDelete}
			var err error
			if key, ok := strings.CutSuffix(arg, "-"); ok {
				w.key, err = parseKey(key)
			} else if w.object, err = s.parseObject(arg); err == nil {
				w.key, w.as = w.object.key, contract.TransactionTypeUpdate
			}
			if err != nil {
				return err
			}
			c.writes, c.version = append(c.writes, w), w.object.version()
		}
	}
	if len(c.writes) == 0 {
		return fmt.Errorf("it has no writes")
	}
	return nil
}

func (s *Script) next() int {
	s.last++
	return s.last
}

func parseKey(text string) (int, error) {
	key := slices.Index(keyNames[:], text)
	if key < 0 {
		return 0, fmt.Errorf("no key %q, only %q", text, keyNames)
	}
	return key, nil
}

func (s *Script) parseObject(text string) (*object, error) {
	text, bare := strings.CutSuffix(text, "!")
	name, values, _ := strings.Cut(text, ":")
	key, err := parseKey(name)
	if err != nil {
		return nil, err
	}
	var lists [maxIndexes][]string
	for i, of := range strings.Split(values, "/") {
		if i == maxIndexes {
			return nil, fmt.Errorf("object %q has values in more than %d indexes", text, maxIndexes)
		}
		for _, value := range of {
			if !slices.Contains(valueNames[:], string(value)) {
				return nil, fmt.Errorf("no value %q, only %q", value, valueNames)
			}
			lists[i] = append(lists[i], string(value))
		}
	}
	if len(lists[one]) != 1 {
		return nil, fmt.Errorf("object %q has not one value in index one", text)
	}
	return newObject(s.next(), key, !bare, lists), nil
}
