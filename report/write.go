package report

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/informerbench/informerbench/measure/record"
)

// The files in a run's folder beside run.json.
const (
	MarkdownFile  = "report.md"
	BenchTextFile = "bench.txt"
)

// Write makes report.md with its curves, report.html and bench.txt in the run's folder from
// its run.json and its profiles. Each file is written whole or not at all. The numbers are to
// the run's references, or to those given (see Against).
func Write(dir string, references ...Reference) error {
	r, err := record.ReadRun(dir)
	if err != nil {
		return err
	}
	if r, err = Against(r, references...); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir) // follows no link that leaves the folder
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing is written through it
	profiles, warnings := ReadProfiles(root.FS(), r)
	r.Warnings = append(r.Warnings, warnings...)
	var md bytes.Buffer
	if err := WriteMarkdown(&md, r); err != nil {
		return err
	}
	pictures, err := Curves(r)
	if err != nil {
		return err
	}
	if err := writePictures(dir, pictures); err != nil {
		return err
	}
	return errors.Join(
		record.WriteFile(filepath.Join(dir, MarkdownFile), md.Bytes()),
		writeFile(filepath.Join(dir, HTMLFile), func(w io.Writer) error {
			return WritePage(w, r, profiles, pictures)
		}),
		writeFile(filepath.Join(dir, BenchTextFile), func(w io.Writer) error {
			return WriteBenchText(w, r)
		}),
	)
}

// writePictures writes the files that report.md refers to.
func writePictures(dir string, pictures map[string][]byte) error {
	if len(pictures) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(dir, CurvesDir), 0o755); err != nil {
		return err
	}
	for path, svg := range pictures {
		if err := record.WriteFile(filepath.Join(dir, filepath.FromSlash(path)), svg); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return record.WriteFile(path, b.Bytes())
}
