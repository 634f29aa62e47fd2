// Package suggest finds the names that somebody may have meant.
package suggest

import (
	"slices"
	"strings"
)

// Near returns the names that are like the one given: it is part of them, or they of it, or
// few letters differ. Case does not count. It costs O(len(have) * n * m) for names of n and m
// bytes.
func Near(name string, have []string) (near []string) {
	for _, n := range have {
		if alike(strings.ToLower(name), strings.ToLower(n)) {
			near = append(near, n)
		}
	}
	return near
}

func alike(name, have string) bool {
	if name == "" {
		return false
	}
	return strings.Contains(have, name) || len(have) > 2 && strings.Contains(name, have) || distance(have, name) <= 1+len(name)/4
}

// OrAll says what may have been meant: "did you mean a or b?", and where no name is near,
// "have" and all names.
func OrAll(name string, have []string) string {
	if near := Near(name, have); len(near) > 0 {
		return DidYouMean(near)
	}
	return "have " + strings.Join(have, ", ")
}

// DidYouMean asks for one of some names, each once.
func DidYouMean(names []string) string {
	return "did you mean " + strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), " or ") + "?"
}

// distance is the Levenshtein distance: the number of bytes to insert, delete or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
