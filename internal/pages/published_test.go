package pages

import (
	"strings"
	"testing"
)

const root = "../.."

// Every page, and the rules of advise, say what the runs in results/ show, and no page has a
// measured number of its own. After a change: go generate ./internal/pages ./advise.
func TestPagesSayWhatTheRunsShow(t *testing.T) {
	t.Parallel()
	files, err := Files(root)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSource(root)
	for _, file := range files {
		is, want, err := FillFile(root, file, s)
		switch {
		case err != nil:
			t.Error(err)
		case string(is) != string(want):
			t.Errorf("%s has other numbers than results/: go generate ./internal/pages ./advise%s", file, firstDifference(string(is), string(want)))
		}
		if file == rulesFile {
			continue
		}
		for _, found := range Bare(is) {
			t.Errorf("%s, %s: a measured number that is of no run; see package pages, or set a parameter in code font", file, found)
		}
	}
}

func firstDifference(is, want string) string {
	wanted := strings.Split(want, "\n")
	for i, line := range strings.Split(is, "\n") {
		if i >= len(wanted) || line != wanted[i] {
			return "\nis:   " + line + "\nwant: " + strings.Join(wanted[i:min(i+1, len(wanted))], "")
		}
	}
	return ""
}
