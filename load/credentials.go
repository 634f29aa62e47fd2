package load

import "regexp"

// userinfo is the part of a URL that may hold a password. A raw slash ends it, and of
// several @ the last one does, as in net/url.
var userinfo = regexp.MustCompile(`://[^/?#"'\s]*@`)

// WithoutCredentials removes user names and passwords ("user:password@") from every
// URL in a text. A trace, a report and a message carry no other form of a server's
// URL. Text without such a URL comes back as it is.
func WithoutCredentials(text string) string {
	return userinfo.ReplaceAllString(text, "://")
}
