package record

// The checksum of run.json and of the forks' files. It is the last field of a file and
// covers every byte before it. It detects accidents of a copy, a merge or an editor; it
// does not protect against deliberate changes.

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
)

// sealed matches the end of a file that seal wrote.
var sealed = regexp.MustCompile(`,\n\t"checksum": "sha256:([0-9a-f]{64})"\n}\n$`)

// seal adds the checksum to the indented JSON of an object with at least one field.
func seal(text []byte) []byte {
	body := bytes.TrimSuffix(text, []byte("\n}"))
	return fmt.Appendf(nil, "%s,\n\t\"checksum\": \"sha256:%x\"\n}\n", body, sha256.Sum256(body))
}

// unsealed is a file, split into text and checksum.
type unsealed struct {
	text   []byte // the object without the checksum
	sealed bool   // the file has a checksum
	fits   bool
}

func unseal(file []byte) unsealed {
	end := sealed.FindSubmatchIndex(file)
	if end == nil {
		return unsealed{text: file}
	}
	body := file[:end[0]]
	return unsealed{
		text:   append(bytes.Clone(body), "\n}\n"...),
		sealed: true,
		fits:   fmt.Sprintf("%x", sha256.Sum256(body)) == string(file[end[2]:end[3]]),
	}
}

// check returns an error unless the file of a run of that schema is unchanged, as far as
// the schema can tell.
func (u unsealed) check(schema int) error {
	switch {
	case schema < sealedSchema && u.sealed:
		return fmt.Errorf(
			"checksum: schema %d has none: the schema was changed after the file was written", schema)
	case schema < sealedSchema, u.fits:
		return nil
	case u.sealed:
		return errors.New(
			"checksum: it does not fit: the file was changed after it was written; copy it again from " +
				"where it was written")
	}
	return errors.New("checksum: missing or not at the end: the file was cut, edited or formatted " +
		"anew; copy it again from where it was written")
}
