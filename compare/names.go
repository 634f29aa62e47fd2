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
