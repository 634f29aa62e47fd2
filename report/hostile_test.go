package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
	"golang.org/x/perf/benchfmt"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// hostile are names and texts that have a meaning to a renderer of a report.
var hostile = []string{
	`<script>alert(1)</script>`, `"><script src=//evil.example/x.js></script>`,
	`</title><script>alert(1)</script>`, `</style><script>alert(1)</script>`,
	`<img src=x onerror=alert(1)>`, `<svg/onload=alert(1)>`, `<svg><script>alert(1)</script></svg>`,
	`<iframe src="javascript:alert(1)">`, `<details open ontoggle=alert(1)>`,
	`</summary><script>alert(1)</script>`, `</details></td></table><script>alert(1)</script>`, `<!--`,
	`--><b>`, `<![CDATA[<b>]]>`, `<?php ?>`, `<style>*{display:none}</style>`,
	`[click](javascript:alert(1))`, `![x](javascript:alert(1))`,
	`![x](https://evil.example/pixel.png)`, `<javascript:alert(1)>`, `[a]: https://evil.example "x"`,
	`https://evil.example www.evil.example`,
	"`</code><script>alert(1)</script>`", "```\n<script>alert(1)</script>\n```",
	"~~~\n</pre><script>alert(1)</script>", "x\n\n<script>alert(1)</script>\n\ny",
	"x\n\n# heading\n\n- list\n\n> quote\n\n---\n",
	"a | b\n---|---\nc | d", "**bold** *it* __b__ ~~gone~~ $x$ @user #1", "# heading", "- item",
	"1. item", "> quote", "+ item", "===", "    code", "&lt;script&gt;", "&#60;script&#62;",
	`\<script>`, `\\<script>alert(1)</script>`,
	"\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07",
	"\u009b31m", "over\rwritten", "back\bspace", "bell\a", "nul\x00", "del\x7f",
	"tab\tand\vvertical\fform",
	"\u202egnp.exe", "a\u2066b\u2069", "\u200ezero\u200b\ufeff", "line\u2028and\u2029paragraph",
	"\xff\xfe not UTF-8", "%s %d %!x(MISSING)", "../../../etc/passwd", `..\..\x`,
	"name\nwarning: all is well",
}

// rich is a run in which every string field has a value of its own.
func rich() *record.Run {
	r := sampleRun(1)
	for i := range len(r.Cells) { // a second size, so that there is something to draw
		c := r.Cells[i]
		c.Params = []record.Param{{Key: "objects", Value: "1000"}}
		r.Cells = append(r.Cells, c)
		f := r.Forks[i]
		f.Cell = c
		r.Forks = append(r.Forks, f)
	}
	r.Impls[1].Failures = []string{"STORE-7 failed\nwith a seed"}
	n := 0
	fillStrings(reflect.ValueOf(r).Elem(), "", &n)
	r.Checks[0].Passed = false
	return r
}

// fillStrings gives empty strings a text, and empty lists and maps an element. It leaves
// out fields whose presence changes the kind of a fork.
func fillStrings(v reflect.Value, field string, n *int) {
	if slices.Contains([]string{"Role", "Profiles", "Histograms", "Group"}, field) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.String() == "" {
			*n++
			v.SetString(fmt.Sprintf("text%d", *n))
		}
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fillStrings(v.Elem(), field, n)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillStrings(v.Field(i), v.Type().Field(i).Name, n)
			}
		}
	case reflect.Slice:
		if v.Len() == 0 && v.Type().Elem().Kind() != reflect.Float64 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			fillStrings(v.Index(i), field, n)
		}
	case reflect.Map:
		if v.Len() == 0 && v.Type().Elem().Kind() == reflect.String {
			*n++
			v.Set(reflect.ValueOf(map[string]string{fmt.Sprintf("key%d", *n): fmt.Sprintf("value%d", *n)}))
		}
	}
}

// stringsOf are the texts of a record, each with the fields that it is in.
func stringsOf(v reflect.Value, field string, into map[string][]string) {
	switch v.Kind() {
	case reflect.String:
		if v.String() != "" && !slices.Contains(into[v.String()], field) {
			into[v.String()] = append(into[v.String()], field)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			stringsOf(v.Elem(), field, into)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				stringsOf(v.Field(i), v.Type().Field(i).Name, into)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			stringsOf(v.Index(i), field, into)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			stringsOf(it.Key(), field, into)
			stringsOf(it.Value(), field, into)
		}
	}
}

// stringFields are the names of the fields below a type that hold strings.
func stringFields(t reflect.Type) []string {
	var out []string
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return stringFields(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				continue
			}
			inner := f.Type
			for inner.Kind() == reflect.Slice || inner.Kind() == reflect.Pointer ||
				inner.Kind() == reflect.Map {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.String {
				out = append(out, f.Name)
			} else {
				out = append(out, stringFields(inner)...)
			}
		}
	}
	return out
}

// with is the run with some of its texts replaced everywhere.
func with(r *record.Run, by map[string]string) *record.Run {
	return mapped(r, func(_, text string) string {
		if other, ok := by[text]; ok {
			return other
		}
		return text
	})
}

// rendered holds every form of a run's report.
type rendered struct{ page, markdown, text, bench string }

func render(t *testing.T, r *record.Run) rendered {
	t.Helper()
	var page, md, text, bench bytes.Buffer
	pictures, err := pictures(Scalings(clean(r)))
	if err != nil {
		t.Fatal(err)
	}
	for path := range pictures {
		if strings.Count(path, "/") != 1 || strings.ContainsAny(path, "\\()<> ") {
			t.Errorf("a picture's path is %q", path)
		}
	}
	for _, err := range []error{
		of(t, r).WriteMarkdown(&md), withProfiles(of(t, r), named(t, r)).WriteHTML(&page),
		of(t, r).WriteText(&text, Terminal{Wide: true}), of(t, r).WriteBench(&bench),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return rendered{page.String(), md.String(), text.String(), bench.String()}
}

// named are profiles of the run's first forks whose functions have names of its record.
func named(t *testing.T, r *record.Run) *Profiles {
	t.Helper()
	out := &Profiles{byFork: map[int]cellProfiles{}}
	for i := range 2 {
		c := newCalls()
		if err := c.add([]string{r.Impls[0].Name + " called", r.Impls[0].Description + " called"}, 5,
			5); err != nil {
			t.Fatal(err)
		}
		out.byFork[i] = cellProfiles{c, c}
	}
	return out
}

// elements counts the elements of a page, with the names of their attributes.
func elements(t *testing.T, page string) map[string]int {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			count["<!-- -->"]++
		}
		if n.Type != html.ElementNode {
			continue
		}
		name := n.Data
		for _, a := range n.Attr {
			name += " " + a.Key
			switch value := strings.ToLower(a.Val); {
			case strings.HasPrefix(a.Key, "on"):
				t.Errorf("a handler: %s=%q", a.Key, a.Val)
			case a.Key == "href" && strings.HasPrefix(value, "#"): // within the page
			case a.Key == "href", a.Key == "src" &&
				!strings.HasPrefix(value, "data:image/svg+xml;base64,") &&
				!strings.HasPrefix(value, CurvesDir+"/"):
				t.Errorf("a reference: %s=%q", a.Key, a.Val)
			}
		}
		if n.Data == "script" && (n.FirstChild == nil || n.FirstChild.Data != script && !isData(n)) {
			t.Error("a script that is not the page's own")
		}
		count[name]++
	}
	return count
}

// isData reports whether an element is JSON, which a browser does not run.
func isData(n *html.Node) bool {
	return slices.Contains(n.Attr, html.Attribute{Key: "type", Val: "application/json"}) &&
		json.Valid([]byte(n.FirstChild.Data))
}

// asGitHub renders Markdown as a page that trusts its HTML would.
func asGitHub(t *testing.T, markdown string) string {
	t.Helper()
	var out bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM),
		goldmark.WithRendererOptions(gmhtml.WithUnsafe())).Convert([]byte(markdown), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// plainText wants no rune that controls a terminal or an editor.
func plainText(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s is no UTF-8", what)
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Errorf("%s has %U", what, r)
			return
		}
	}
}

// meaningful are the fields whose values decide what a report contains, so they are
// replaced one at a time.
var meaningful = []string{"Component", "Values", "Process", "Value", "Verified", "Role"}

// Every form of the report shows any string of a record as text: the string adds no
// element, attribute, reference, line or control character.
func TestHostileStringsStayText(t *testing.T) {
	t.Parallel()
	if len(hostile) < 30 {
		t.Fatal("too few")
	}
	run := rich()
	fields := map[string][]string{}
	stringsOf(reflect.ValueOf(run), "", fields)
	seen := map[string]bool{}
	var free, decisive []string
	for _, text := range slices.Sorted(maps.Keys(fields)) {
		for _, f := range fields[text] {
			seen[f] = true
		}
		if slices.ContainsFunc(fields[text], func(f string) bool {
			return slices.Contains(meaningful, f)
		}) {
			decisive = append(decisive, text)
		} else {
			free = append(free, text)
		}
	}
	for _, f := range stringFields(reflect.TypeFor[record.Run]()) {
		if !seen[f] && f != "Profiles" && f != "Histograms" { // a fork that has profiles is not measured
			t.Errorf("no hostile string stands in a field %s", f)
		}
	}
	t.Logf("%d texts in %d fields", len(fields), len(seen))

	// All other fields at once, each with another hostile string in every round, so that
	// each field gets each string. A suffix keeps the texts distinct.
	harmless, rounds := map[string]string{}, make([]map[string]string, len(hostile))
	for i, text := range free {
		// letters, for warnings that differ in a number only are counted as one
		apart := strings.Repeat("x", i)
		harmless[text] = "harmless " + apart
		for k := range rounds {
			if rounds[k] == nil {
				rounds[k] = map[string]string{}
			}
			rounds[k][text] = hostile[(i+k)%len(hostile)] + " " + apart
		}
	}
	want := shapeOf(t, render(t, with(run, harmless)))
	for k, by := range rounds {
		want.check(t, fmt.Sprintf("round %d", k), render(t, with(run, by)))
	}
	for i, text := range decisive {
		want := shapeOf(t, render(t, with(run, map[string]string{text: "harmless"})))
		for k := i % 17; k < len(hostile); k += 17 {
			want.check(t, fmt.Sprintf("%q in %v", hostile[k], fields[text]),
				render(t, with(run, map[string]string{text: hostile[k]})))
		}
	}
}

// shape holds the properties that no string may change.
type shape struct {
	page, markdown map[string]int // elements
	results        int            // of bench.txt
}

func shapeOf(t *testing.T, r rendered) shape {
	t.Helper()
	return shape{elements(t, r.page), elements(t, asGitHub(t, r.markdown)), benchmarkLines(r.bench)}
}

func (s shape) check(t *testing.T, what string, r rendered) {
	t.Helper()
	got := shapeOf(t, r)
	if !maps.Equal(got.page, s.page) {
		t.Errorf("%s: the page has other elements: %s", what, changed(s.page, got.page))
	}
	if !maps.Equal(got.markdown, s.markdown) {
		t.Errorf("%s: the Markdown has other elements: %s", what, changed(s.markdown, got.markdown))
	}
	if got.results != s.results {
		t.Errorf("%s: bench.txt has %d results, want %d:\n%s", what, got.results, s.results, r.bench)
	}
	for form, text := range map[string]string{"the page": r.page, "the Markdown": r.markdown,
		"the text": r.text, "bench.txt": r.bench} {
		plainText(t, what+": "+form, text)
	}
	for line := range strings.Lines(r.text) {
		if strings.HasPrefix(line, "warning: all is well") {
			t.Errorf("%s: a name passes for a line of the text", what)
		}
	}
}

func benchmarkLines(text string) (results int) {
	for r := benchfmt.NewReader(strings.NewReader(text), "bench.txt"); r.Scan(); {
		if _, ok := r.Result().(*benchfmt.Result); ok {
			results++
		}
	}
	return results
}

func changed(want, got map[string]int) string {
	var out []string
	for e := range maps.Keys(got) {
		if got[e] != want[e] {
			out = append(out, fmt.Sprintf("%d <%s>, want %d", got[e], e, want[e]))
		}
	}
	for e := range want {
		if got[e] == 0 {
			out = append(out, "no <"+e+">")
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// The comparison of two runs gets the same test.
func TestHostileComparison(t *testing.T) {
	t.Parallel()
	versus := func(name string) *compare.Result {
		spec := recordtest.Spec{Name: name, Forks: 6,
			Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 100}, {Name: name, NsPerOp: 150}}}
		base, head := recordtest.Run(spec), recordtest.Run(spec)
		for _, r := range []*record.Run{base, head} {
			r.Warnings = []string{name}
		}
		extra := base.Cells[1]
		extra.Impl = "left" + name
		base.Cells = append(base.Cells, extra)
		r, err := compare.Runs(base, head, true)
		if err != nil {
			t.Fatal(err)
		}
		gate, err := compare.ParseGate("store/*/ns/op <= +5%")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Judge([]compare.Gate{gate}); err != nil {
			t.Fatal(err)
		}
		r.Gates[0].Gate, r.Gates[0].Detail = name, name
		return r
	}
	write := func(to func(io.Writer, *compare.Result) error, r *compare.Result) string {
		var out bytes.Buffer
		if err := to(&out, r); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	want := elements(t, asGitHub(t, write(WriteVersusMarkdown, versus("harmless"))))
	for _, h := range hostile {
		r := versus(h)
		md := write(WriteVersusMarkdown, r)
		if e := elements(t, asGitHub(t, md)); !maps.Equal(e, want) {
			t.Errorf("%q: other elements: %s", h, changed(want, e))
		}
		plainText(t, fmt.Sprintf("%q: Markdown", h), md)
		plainText(t, fmt.Sprintf("%q: text", h), write(func(w io.Writer, r *compare.Result) error {
			return WriteVersusText(w, r, Terminal{Wide: true})
		}, r))
		plainText(t, fmt.Sprintf("%q: JSON", h), write(WriteVersusJSON, r))
	}
}

// HTML in Markdown that is not this package's own is shown as text.
func TestFragmentKeepsOwnHTMLAlone(t *testing.T) {
	t.Parallel()
	body, err := fragment(
		[]byte("<details><summary>ours</summary>\n\ntext <b>bold</b>\n\n</details>\n\n<div "+
			"onclick=x>\n\n<script>alert(1)</script>\n\n[x](javascript:y)\n"), nil, place{"part", anchors{}})
	if err != nil {
		t.Fatal(err)
	}
	found := found(t, string(body))
	for _, forbidden := range []string{"script", "b", "div", "a href javascript:y"} {
		if _, ok := found[forbidden]; ok {
			t.Errorf("the page has <%s>:\n%s", forbidden, body)
		}
	}
	if _, ok := found["details"]; !ok || found["summary"] != "ours" {
		t.Errorf("the page lacks its own details:\n%s", body)
	}
}

// The page's policy forbids everything except its own style, script and pictures, and the
// hashes are those of what stands in the page.
func TestPolicyIsOfThePage(t *testing.T) {
	t.Parallel()
	var page bytes.Buffer
	if err := of(t, rich()).WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	found := found(t, page.String())
	if _, ok := found["meta content "+policy()]; !ok ||
		!strings.HasPrefix(policy(), "default-src 'none';") || strings.Contains(policy(), "unsafe") {
		t.Errorf("the policy is not in the page, or allows too much: %s", policy())
	}
	if found["style"] != style || found["script"] != script {
		t.Error("style or script of the page are not those of the policy")
	}
}

// found lists the elements of a page, each with its first text or element, and each attribute.
func found(t *testing.T, page string) map[string]string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		out[n.Data] = ""
		if n.FirstChild != nil {
			out[n.Data] = n.FirstChild.Data
		}
		for _, a := range n.Attr {
			out[n.Data+" "+a.Key+" "+a.Val] = ""
		}
	}
	return out
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain 90 µs ±5% ≤ 3": "plain 90 µs ±5% ≤ 3", "a\nb\tc": "a\nb\tc", "\x1b[1m": `\u001b[1m`,
		"\u202e": `\u202e`, "\x7f\u0085": `\u007f\u0085`, "\xff": `\xff`, "\U000e0041": `\U000e0041`,
		"�": "�",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if got := VisibleLine("a\nb\tc"); got != `a\nb\u0009c` {
		t.Errorf("got %q", got)
	}
}
