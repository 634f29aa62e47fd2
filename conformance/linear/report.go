package linear

import (
	"errors"
	"fmt"
	"html"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// report returns the text of a failure. It draws the page that the text names.
func (f finding) report(dir, clause string) string {
	var b strings.Builder
	b.WriteString("no one order of these calls, each at some point between its begin and its end, " +
		"explains what they returned.\n")
	fmt.Fprintf(&b, "Shrunk from %d calls to %d%s:\n%s", f.calls, len(f.small.ops),
		f.small.hiddenText(), f.small.listing())
	if f.runs > 0 {
		fmt.Fprintf(&b, "Run alone %d times more, these calls were wrong %d times.\n", f.runs, f.broken)
	}
	if path, err := f.draw(dir, clause); err != nil {
		fmt.Fprintf(&b, "It could not be drawn (linear.WithDrawings chooses another directory): %v", err)
	} else {
		fmt.Fprintf(&b, "Drawn in %s", path)
	}
	return b.String()
}

// draw writes a page of the small history, with the whole history as text below.
func (f finding) draw(dir, clause string) (path string, err error) {
	if dir == "" {
		dir = os.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(dir, "linear-"+clause+"-*.html")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	m := f.small.model()
	_, info := porcupine.CheckOperationsVerbose(m, f.small.ops, patience)
	if err := porcupine.Visualize(m, info, file); err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(
		file, "<h2>%s</h2>\n<pre>%s</pre>\n<h2>The whole history that these are left "+
			"of</h2>\n<pre>%s</pre>\n", clause+f.small.hiddenText(),
		html.EscapeString(f.small.listing()), html.EscapeString(f.whole.listing()))
	return file.Name(), err
}

// listing returns the calls in the order in which they began.
func (h *history) listing() string {
	ops := slices.Clone(h.ops)
	slices.SortFunc(ops, byCall)
	var b strings.Builder
	fmt.Fprintf(&b, "  begin  end  client  call (the store began empty, with the indexes %s)\n",
		h.start.text(indexNames[:]))
	for _, op := range ops {
		fmt.Fprintf(&b, "  %5d %4d  %6d  %s\n", op.Call, op.Return, op.ClientId,
			describe(op.Input.(*call), op.Output.(result), h.hidden))
	}
	return b.String()
}

func (h *history) hiddenText() string {
	if h.hidden == 0 {
		return ""
	}
	return ", the keys " + h.hidden.text(keyNames[:]) + " left out of all results"
}

// describe returns the text of a call and its result.
func describe(c *call, r result, hidden bits) string {
	text := c.text(hidden)
	if got := c.resultText(r, hidden); got != "" {
		text += " gave " + got
	}
	return text
}

func (c *call) text(hidden bits) string {
	args := ""
	if c.kind.args != nil {
		args = c.kind.args(c, hidden)
	}
	return c.kind.name + "(" + args + ")"
}

func (c *call) resultText(r result, hidden bits) string {
	r = c.shown(r, hidden)
	switch {
	case r.odd != "":
		return r.odd
	case r.failed:
		return "an error"
	}
	switch c.kind.sees {
	case seesObjects:
		objects := r.at[:]
		if r.twice != nil {
			objects = append(objects, r.twice)
		}
		return objectsText(objects)
	case seesKeys:
		return r.set.text(keyNames[:])
	case seesValues:
		return r.set.text(valueNames[:])
	case seesIndexers:
		return r.set.text(indexNames[:])
	case seesVersion:
		return versionText(r.version)
	}
	return ""
}

func objectsText(objects []*object) string {
	var names []string
	for _, o := range objects {
		if o != nil {
			names = append(names, o.String())
		}
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, " ")
}

func versionText(version int) string {
	if version == 0 {
		return "no version"
	}
	return "version " + strconv.Itoa(version)
}

// text returns the state as the drawing shows it.
func (s state) text(hidden bits) string {
	for k := range s.at {
		if hidden.has(k) {
			s.at[k] = nil
		}
	}
	return objectsText(s.at[:]) + "; indexes " + s.indexes.text(indexNames[:]) + "; " +
		versionText(s.version)
}

func keyArg(c *call, _ bits) string { return keyNames[c.key] }

func storeArgs(c *call, _ bits) string { return keyNames[c.key] + ", " + c.writes[0].object.long() }

func valueArgs(c *call, _ bits) string { return indexNames[c.index] + ", " + c.value() }

func longOrNil(o *object) string {
	if o == nil {
		return "nil"
	}
	return o.long()
}

// writesText returns the text of the writes of a Replace or a Transaction, without hidden
// keys.
func writesText(c *call, hidden bits) string {
	var parts []string
	for _, w := range c.writes {
		switch {
		case hidden.has(w.key):
		case w.object != nil:
			parts = append(parts, w.object.long())
		default:
			parts = append(parts, "delete "+keyNames[w.key])
		}
	}
	text := "{" + strings.Join(parts, ", ") + "}"
	if c.kind.power == transactor && c.version != 0 {
		text += ", version " + strconv.Itoa(c.version)
	}
	return text
}
