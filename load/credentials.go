package load

import "regexp"

// userinfo is the part of a URL that may hold a password. A raw slash ends it, and of
// several @ the last one does, as in net/url.
var userinfo = regexp.MustCompile(`://[^/?#"'\s]*@`)

// WithoutCredentials removes user names and passwords ("user:password@") from every
// URL in a text. Use it for every URL of a server in a trace, a report or a message.
// Text without such a URL comes back as it is.
func WithoutCredentials(text string) string {
	return userinfo.ReplaceAllString(text, "://")
}
