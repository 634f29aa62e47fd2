package record

// Decoding of JSON that a person may have edited. An error names the file and the path of
// the field, including the list indexes that encoding/json leaves out.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	kjson "sigs.k8s.io/json"
)

// retired are fields with the last schema that had them; their values are dropped.
var retired = map[string]int{"rounds": 1} // of a series, in place of its passes

// decode reads the JSON text b of the file at path, which belongs to a run of that schema,
// into v. It refuses a field that is unknown in the schema, or occurs twice.
func decode(path string, b []byte, v any, schema int) error {
	strict, err := kjson.UnmarshalStrict(b, v, kjson.DisallowUnknownFields,
		kjson.DisallowDuplicateFields)
	if err != nil {
		return jsonError(path, b, err)
	}
	for _, problem := range strict {
		var field kjson.FieldError
		if errors.As(problem, &field) &&
			retired[field.FieldPath()[strings.LastIndex(field.FieldPath(), ".")+1:]] == schema {
			continue
		}
		return fmt.Errorf("%s: %w: a newer benchrun wrote it, or it was edited", path, problem)
	}
	// encoding/json reads null as zero, which would pass for a measurement. Most files have
	// no null, so most are not walked a second time.
	if !bytes.Contains(b, []byte("null")) {
		return nil
	}
	walk(b, func(p jsonPath, _ int64, tok json.Token) bool {
		if tok == nil && !slices.Contains(mayBeNull, p.key()) {
			err = fmt.Errorf("%s: %s: null", path, p)
		}
		return err == nil
	})
	return err
}

// mayBeNull are the lists and maps that are written as null when empty.
var mayBeNull = []string{"command", "workloads", "implementations", "cells", "forks", "series",
	"process", "values", "parts", "machines"}

// jsonError says what is wrong with the JSON text b of the file at path.
func jsonError(path string, b []byte, err error) error {
	var typeErr *json.UnmarshalTypeError
	isSyntax, offset := kjson.SyntaxErrorOffset(err)
	switch {
	case isSyntax:
		return fmt.Errorf("%s: not whole JSON at byte %d: %w (truncated or edited?)", path, offset, err)
	case errors.As(err, &typeErr):
		field := jsonPath{{key: typeErr.Field}}
		walk(b, func(p jsonPath, end int64, _ json.Token) bool {
			field = slices.Clone(p)
			return end < typeErr.Offset
		})
		return fmt.Errorf("%s: %s: want %s, have %s", path, field, typeErr.Type, typeErr.Value)
	}
	// A time's own error does not say which field it is from.
	var field jsonPath
	walk(b, func(p jsonPath, _ int64, tok json.Token) bool {
		if slices.Contains([]string{"started", "finished"}, p.key()) && tok != nil {
			s, _ := tok.(string)
			if _, e := time.Parse(time.RFC3339, s); e != nil {
				field = slices.Clone(p)
			}
		}
		return field == nil
	})
	return fmt.Errorf("%s: %s: %w", path, field, err)
}

// jsonPath leads from the root of a JSON text to a value in it.
type jsonPath []jsonStep

// jsonStep is a key of an object or, where isIndex, a position in a list.
type jsonStep struct {
	key     string
	index   int
	isIndex bool
}

// key is the last key on the path.
func (p jsonPath) key() string {
	for _, s := range slices.Backward(p) {
		if !s.isIndex {
			return s.key
		}
	}
	return ""
}

// inMap are the objects whose keys are data; the path quotes such keys.
var inMap = []string{"values", "process", "histograms", "modules", "buildFlags", "reference",
	"ratios", "sources"}

func (p jsonPath) String() string {
	var out []byte
	for i, s := range p {
		switch {
		case s.isIndex:
			out = fmt.Appendf(out, "[%d]", s.index)
		case i > 0 && slices.Contains(inMap, p[i-1].key):
			out = append(strconv.AppendQuote(append(out, '['), s.key), ']')
		case i > 0:
			out = append(append(out, '.'), s.key...)
		default:
			out = append(out, s.key...)
		}
	}
	return string(out)
}

// walk visits the values of a JSON text in order. end is the offset behind a value, or
// behind the opening bracket of an object or a list. walk ends when visit returns false, or
// where the text is not JSON.
func walk(b []byte, visit func(p jsonPath, end int64, tok json.Token) bool) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var value func(p jsonPath) bool
	value = func(p jsonPath) bool {
		tok, err := dec.Token()
		if err != nil || !visit(p, dec.InputOffset(), tok) {
			return false
		}
		delim, ok := tok.(json.Delim)
		if !ok {
			return true
		}
		for i := 0; dec.More(); i++ {
			step := jsonStep{index: i, isIndex: true}
			if delim == '{' {
				key, err := dec.Token()
				if err != nil {
					return false
				}
				step = jsonStep{key: fmt.Sprint(key)}
			}
			if !value(append(p, step)) {
				return false
			}
		}
		_, err = dec.Token()
		return err == nil
	}
	value(nil)
}
