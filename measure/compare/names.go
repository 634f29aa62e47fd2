package compare

import (
	"regexp"
	"strings"
)

// Pattern compiles the pattern of a gate, which matches whole names (Name.String): * stands for
// any run of characters, slashes included.
func Pattern(text string) (*regexp.Regexp, error) {
	return regexp.Compile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*") + "$")
}

// overlap reports whether a text matches both patterns. It costs O(len(a) len(b)).
func overlap(a, b string) bool {
	below := make([]bool, len(b)+1) // below[j]: a text matches both a[i+1:] and b[j:]
	for i := len(a); i >= 0; i-- {
		row := make([]bool, len(b)+1) // row[j]: likewise of a[i:]
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				row[j] = true
			case i < len(a) && a[i] == '*': // it ends here, or takes one more of b
				row[j] = below[j] || j < len(b) && row[j+1]
			case j < len(b) && b[j] == '*':
				row[j] = row[j+1] || i < len(a) && below[j]
			default:
				row[j] = i < len(a) && j < len(b) && a[i] == b[j] && below[j+1]
			}
		}
		below = row
	}
	return below[0]
}
