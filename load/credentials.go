package load

import "regexp"

// userinfo is the part of a URL that may hold a password. As in net/url, a slash ends it,
// and of several @ the last one does.
var userinfo = regexp.MustCompile(`://[^/?#"'\s]*@`)

// WithoutCredentials removes user names and passwords ("user:password@") from every URL in
// a text. Use it for every server URL in a trace, a report or a message. Other text is
// returned unchanged.
func WithoutCredentials(text string) string {
	return userinfo.ReplaceAllString(text, "://")
}
