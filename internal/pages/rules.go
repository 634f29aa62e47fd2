package pages

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/informerbench/informerbench/compare"
)

var (
	braces  = regexp.MustCompile(`\{[^{}]*\}`)
	bytesOf = regexp.MustCompile(`\{own: [^,}]*, reference: [^,}]*\}`)
)

// FillRules returns advise's rules with the numbers in braces as the runs have them. Lines
// without numbers stay as they are, comments too.
func FillRules(rules []byte, s *Source) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(rules, &root); err != nil {
		return nil, err
	}
	f := rulesFiller{source: s, lines: strings.Split(string(rules), "\n")}
	f.walk(&root)
	return []byte(strings.Join(f.lines, "\n")), errors.Join(f.errs...)
}

type rulesFiller struct {
	source *Source
	lines  []string
	errs   []error
}

// walk fills each statement below a node.
func (f *rulesFiller) walk(node *yaml.Node) {
	if node.Kind == yaml.MappingNode {
		fields := map[string]*yaml.Node{}
		for i := 0; i < len(node.Content); i += 2 {
			fields[node.Content[i].Value] = node.Content[i+1]
		}
		if says := fields["says"]; says != nil {
			if err := f.fill(says, fields); err != nil {
				f.errs = append(f.errs, fmt.Errorf("line %d: %w", says.Line, err))
			}
			return
		}
	}
	for _, below := range node.Content {
		f.walk(below)
	}
}

// fill writes the numbers of one statement.
func (f *rulesFiller) fill(says *yaml.Node, fields map[string]*yaml.Node) error {
	var numbers []struct {
		Number string `yaml:"number"`
		To     string `yaml:"to"`
	}
	if fields["numbers"] != nil {
		if err := fields["numbers"].Decode(&numbers); err != nil {
			return err
		}
	}
	line := &f.lines[says.Line-1]
	marks := braces.FindAllString(*line, -1)
	switch record := fields["record"]; {
	case len(marks) != len(numbers):
		return fmt.Errorf("%d numbers in braces, %d names", len(marks), len(numbers))
	case record == nil && len(numbers) > 0:
		return errors.New("numbers in braces, and no record")
	case record == nil:
		return nil
	case len(numbers) == 0:
		return errors.New("a record, and no number of it")
	}
	preset := path.Base(fields["record"].Value)
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		found, err := f.source.figure(number{preset, n.Number, n.To})
		if err != nil {
			return err
		}
		texts[i] = "{" + found.like(marks[i]) + "}"
	}
	next := 0
	*line = braces.ReplaceAllStringFunc(*line, func(string) string { next++; return texts[next-1] })
	if perObject := fields["bytes"]; perObject != nil {
		return f.fillBytes(&f.lines[perObject.Line-1], preset, numbers[0].Number, numbers[len(numbers)-1].Number)
	}
	return nil
}

// fillBytes writes the bytes per object of an implementation and of the reference, which are
// the statement's first number and its last.
func (f *rulesFiller) fillBytes(line *string, preset, own, reference string) error {
	r, err := f.source.run(preset)
	if err != nil {
		return err
	}
	var medians [2]float64
	for i, name := range []string{own, reference} {
		found, err := compare.Lookup(r, name)
		if err != nil {
			return err
		}
		medians[i] = found.Estimate().Median
	}
	*line = bytesOf.ReplaceAllString(*line, fmt.Sprintf("{own: %.0f, reference: %.0f}", medians[0], medians[1]))
	return nil
}
