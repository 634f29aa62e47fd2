package record

import (
	"errors"
	"fmt"
	"strings"

	kjson "sigs.k8s.io/json"
)

// retired are fields with the last schema that had them; their values are dropped.
var retired = map[string]int{
	"rounds": 1,  // of a series, in place of its passes
	"locks":  10, // of a fork with profiles: from its execution trace
}

// decode reads the JSON of the file at path, which belongs to a run of that schema, into v. It
// refuses a file that was changed after it was written, as far as the schema can tell, and a
// field that is unknown in the schema, or occurs twice.
func decode(path string, file unsealed, v any, schema int) error {
	if err := file.check(schema); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	strict, err := kjson.UnmarshalStrict(file.text, v, kjson.DisallowUnknownFields,
		kjson.DisallowDuplicateFields)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, problem := range strict {
		var field kjson.FieldError
		if errors.As(problem, &field) &&
			schema <= retired[field.FieldPath()[strings.LastIndex(field.FieldPath(), ".")+1:]] {
			continue
		}
		return fmt.Errorf("%s: %w: a newer benchrun wrote it, or it was edited", path, problem)
	}
	return nil
}
