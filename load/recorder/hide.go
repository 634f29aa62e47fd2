package recorder

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/informerbench/informerbench/load"
)

// checkURL refuses a URL of the kubeconfig that has credentials and cannot be parsed, or is
// parsed so that they are no credentials, as with a slash in them. The parser's own error,
// and others, would quote the URL with the password.
func checkURL(field, text string) error {
	if !strings.Contains(text, "@") {
		return nil
	}
	if u, err := url.Parse(text); err != nil || u.Host == "" || u.User == nil {
		return fmt.Errorf(
			"%s is no URL: use scheme://user:password@host:port, with %%XX for special characters of the "+
				"password (the rest is not shown because it may hold a password)", field)
	}
	return nil
}

// shown is a server's URL for messages and the trace: without credentials, query and
// fragment.
func shown(host string) string {
	host, _, _ = strings.Cut(host, "?")
	host, _, _ = strings.Cut(host, "#")
	if !strings.Contains(host, "://") { // a kubeconfig may leave out the scheme
		host = host[strings.LastIndex(host, "@")+1:]
	}
	return load.WithoutCredentials(host)
}

// hide removes the credentials of URLs from an error's text. errors.Is and errors.As still
// find the cause.
func (c *Cluster) hide(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if c.credentials != "" {
		text = strings.ReplaceAll(text, c.credentials, "")
	}
	if text = load.WithoutCredentials(text); text == err.Error() {
		return err
	}
	return &hiddenError{text, err}
}

type hiddenError struct {
	text  string
	cause error
}

func (e *hiddenError) Error() string { return e.text }
func (e *hiddenError) Unwrap() error { return e.cause }

// credentialsOf is the part of a server's URL before the host, "user:password@", or "".
func credentialsOf(host string) string {
	if _, rest, ok := strings.Cut(host, "://"); ok {
		host = rest
	}
	authority, _, _ := strings.Cut(host, "/")
	return authority[:strings.LastIndex(authority, "@")+1]
}
