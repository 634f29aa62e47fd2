package pages

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/informerbench/informerbench/measure/record"
)

// generated are pages that other programs write.
var generated = []string{"api.md", "which.md", "scale.md", "selfcheck.md", "mechanical-mutants.md"}

// Files are the files with numbers, relative to the repository: the README, the pages of
// docs/ but those that other programs write, the proposal to client-go's maintainers, and the
// rules of advise. Pages in folders of docs/, such as docs/log, are left out: notes of many
// revisions and machines.
func Files(root string) ([]string, error) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	files := []string{"README.md", rulesFile, proposalFile}
	for _, page := range pages {
		if !slices.Contains(generated, filepath.Base(page)) {
			files = append(files, "docs/"+filepath.Base(page))
		}
	}
	return files, nil
}

const (
	rulesFile    = "advise/rules.yaml"
	proposalFile = kit + "/kep.md"
)

// FillFile returns one of Files as it is and with its numbers as the runs have them.
func FillFile(root, file string, s *Source) (is, want []byte, err error) {
	is, err = os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return nil, nil, err
	}
	switch {
	case file == rulesFile:
		want, err = FillRules(is, s)
	case filepath.Dir(file) == ".":
		want, err = Fill(is, s, "")
	default:
		want, err = Fill(is, s, "../")
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return is, want, err
}

// Update writes the numbers of all files. A file with a number that no run has stays as it is,
// and is named in the error.
func Update(root string) error {
	files, err := Files(root)
	if err != nil {
		return err
	}
	s := NewSource(root)
	var errs []error
	for _, file := range files {
		is, want, err := FillFile(root, file, s)
		if err == nil && !bytes.Equal(is, want) {
			err = record.ReplaceFile(filepath.Join(root, file), 0o644, func(w io.Writer) error {
				_, err := w.Write(want)
				return err
			})
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
