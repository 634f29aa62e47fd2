package pages

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	// measure is a number with a unit in which results are given. Sizes in bytes are often
	// those of a type, counts are often parameters: neither is looked for.
	measure = regexp.MustCompile(`\d[\d.,]*(?: ?(?:ns|µs|us|ms)\b| ?%| percent\b|x\b| times\b)`)
	fences  = regexp.MustCompile("(?ms)^```.*?^```$")
	code    = regexp.MustCompile("`[^`\n]*`")
	link    = regexp.MustCompile(`\]\([^()]*\)`)
)

// Bare lists the lines with a number that looks measured and is of no run: it stands neither
// in a table of Fill nor in one of its links, nor in code font, which parameters have.
func Bare(page []byte) (found []string) {
	text := string(page)
	for _, known := range []*regexp.Regexp{fences, block, inline, code, link} {
		text = known.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	}
	for i, line := range strings.Split(text, "\n") {
		if m := measure.FindString(line); m != "" {
			found = append(found, fmt.Sprintf("line %d: %s", i+1, m))
		}
	}
	return found
}
