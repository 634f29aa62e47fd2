package advise

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/informerbench/informerbench/contract"
)

//go:embed rules.yaml
var rulesFile []byte

// Table is the rules, with what they refer to.
type Table struct {
	// Prices are what an implementation costs, by the names that rules use.
	Prices map[string]Evidence `yaml:"prices"`
	// Memory is what an implementation keeps for each object, by "component/implementation". Each
	// rule that recommends the implementation says it.
	Memory map[string]Evidence `yaml:"memory"`
	// Rules are in order: the first of a component whose conditions hold decides.
	Rules []Rule `yaml:"rules"`
	// Lines are the lines of code by "component/implementation" and by [Program].
	Lines map[string]map[Program]Line `yaml:"lines"`
}

// Rule recommends an implementation for a range of loads.
type Rule struct {
	Name      string             `yaml:"name"`
	Component contract.Component `yaml:"component"`
	What      string             `yaml:"what"` // the loads, in a sentence
	When      Condition          `yaml:"when"`
	Use       string             `yaml:"use"` // a name of the catalog
	Because   []Evidence         `yaml:"because"`
	// Unless says when another implementation would be better; nil if there is no such case.
	Unless *Evidence `yaml:"unless,omitempty"`
	Price  []string  `yaml:"price,omitempty"` // names of Table.Prices
}

// Condition says for which loads a rule decides. Each range was measured, but not every
// combination of numbers within several. A field that is empty allows every load.
type Condition struct {
	Reads      []Reads  `yaml:"reads,flow,omitempty"`
	Priorities []bool   `yaml:"priorities,flow,omitempty"`
	Events     []Events `yaml:"events,flow,omitempty"`
	// Ranges are closed.
	Ranges map[string]Range `yaml:",inline"` // by Dimension
}

// Range is from the first number to the second, both included.
type Range [2]float64

func (r Range) holds(v float64) bool { return r[0] <= v && v <= r[1] }

// String is "1,000 to 10,000", or "1".
func (r Range) String() string {
	if r[0] == r[1] {
		return grouped(r[0])
	}
	return grouped(r[0]) + " to " + grouped(r[1])
}

// Evidence is a statement and what it rests on.
type Evidence struct {
	// Says is one or two sentences. Numbers of the record stand in braces.
	Says string `yaml:"says"`
	// Record is the folder of a run in the repository; "" if none was kept.
	Record string `yaml:"record,omitempty"`
	// Source says where a statement without a record comes from.
	Source string `yaml:"source,omitempty"`
	// Page and Section are where the documentation says more.
	Page    string `yaml:"page"`
	Section string `yaml:"section,omitempty"`
	// Measure is the command that measures it again.
	Measure string `yaml:"measure"`
	// Numbers are the names of the numbers in braces, in the order of the text.
	Numbers []Number `yaml:"numbers,omitempty"`
	// Bytes are bytes per object. All of Table.Memory have them, and nothing else.
	Bytes *Bytes `yaml:"bytes,omitempty"`
}

// Number is a median of a record, or a ratio of two.
type Number struct {
	Number string `yaml:"number"` // as compare.Name has it
	// To is the implementation to which Number is a ratio; "" if it is none.
	To string `yaml:"to,omitempty"`
}

// Bytes are bytes per object: an implementation's own and the reference's.
type Bytes struct {
	Own       float64 `yaml:"own"`
	Reference float64 `yaml:"reference"`
}

// Program is a kind of program that a line of code is for.
type Program string

// The programs.
const (
	ClientGo          Program = "client-go"
	ControllerRuntime Program = "controller-runtime"
)

// Programs lists the programs, in the order of texts.
func Programs() []Program { return []Program{ClientGo, ControllerRuntime} }

// Line is the code that puts an implementation into a program.
type Line struct {
	// Code is an expression or a definition, perhaps after lines that declare types; "" if nothing
	// changes.
	Code string `yaml:"code,omitempty"`
	// Imports are the packages that Code needs, each with a name before it where the code
	// uses another than the package's own.
	Imports []string `yaml:"imports,flow,omitempty"`
	// Given are the variables that the program has already, with their types.
	Given map[string]string `yaml:"given,omitempty"`
	Note  string            `yaml:"note,omitempty"`
}

// Rules returns the table. It belongs to all callers: do not change it.
var Rules = sync.OnceValue(func() *Table {
	t, err := parse(rulesFile)
	if err != nil {
		panic(fmt.Sprintf("rules.yaml: %v", err)) // it is part of the program, and a test reads it
	}
	return t
})

// parse reads a table. An unknown field, an unknown dimension and a second document are errors.
func parse(data []byte) (*Table, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	var t Table
	if err := dec.Decode(&t); err != nil {
		return nil, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("a second document")
	}
	for key, e := range t.Memory {
		if e.Bytes == nil {
			return nil, fmt.Errorf("memory of %s: want bytes: {own: 130, reference: 160}", key)
		}
	}
	for _, r := range t.Rules {
		for d, limits := range r.When.Ranges {
			if !slices.ContainsFunc(dimensions, func(known described) bool {
				return string(known.Dimension) == d
			}) {
				return nil, fmt.Errorf("rule %s: unknown condition %q", r.Name, d)
			}
			if limits[0] > limits[1] {
				return nil, fmt.Errorf("rule %s: %s: %v ends before it begins", r.Name, d, limits)
			}
		}
	}
	return &t, nil
}

// Of returns the rules of a component, in order.
func (t *Table) Of(c contract.Component) (out []Rule) {
	for _, r := range t.Rules {
		if r.Component == c {
			out = append(out, r)
		}
	}
	return out
}

// statement is what a rule says, under one of these labels.
type statement struct {
	label string
	Evidence
}

const (
	labelBecause = "because"
	labelPrice   = "price"
	labelMemory  = "memory"
	labelUnless  = "unless"
)

// statements are all that a rule says, in the order of texts.
func (t *Table) statements(r Rule) (all []statement) {
	for _, e := range r.Because {
		all = append(all, statement{labelBecause, e})
	}
	for _, name := range r.Price {
		all = append(all, statement{labelPrice, t.Prices[name]})
	}
	if memory, known := t.Memory[implementation(r.Component, r.Use)]; known {
		all = append(all, statement{labelMemory, memory})
	}
	if r.Unless != nil {
		all = append(all, statement{labelUnless, *r.Unless})
	}
	return all
}

// implementation is the key of Table.Memory and Table.Lines.
func implementation(c contract.Component, impl string) string { return string(c) + "/" + impl }

// braces are the marks around the numbers of a record.
var braces = strings.NewReplacer("{", "", "}", "")

// Text is what the evidence says, without the marks of its numbers.
func (e Evidence) Text() string { return braces.Replace(e.Says) }

// Origin says where the statement comes from: the record, or the source where none was kept.
func (e Evidence) Origin() string {
	if e.Record != "" {
		return e.Record
	}
	return e.Source
}
