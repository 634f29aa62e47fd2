package main

import (
	"io"
	"slices"
	"unicode/utf8"

	"github.com/informerbench/informerbench/report"
)

// visibleWriter writes control characters as escapes. Names and texts of traces, runs and
// servers reach the terminal through it, and must not move its cursor or change its
// colours. In JSON the escapes are the same value.
type visibleWriter struct {
	out io.Writer
	cut []byte // the beginning of a character that the next write completes
}

func (w *visibleWriter) Write(p []byte) (int, error) {
	text := slices.Concat(w.cut, p)
	whole := len(text)
	for i := max(0, len(text)-utf8.UTFMax+1); i < len(text); i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			whole = i
			break
		}
	}
	w.cut = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(w.out, report.Visible(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end writes the rest of a text that ends within a character.
func (w *visibleWriter) end() error {
	_, err := io.WriteString(w.out, report.Visible(string(w.cut)))
	w.cut = nil
	return err
}
