package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"github.com/informerbench/informerbench/measure/record"
)

// hostileTexts have a meaning to a browser, a template or a path. None has a slash, so that
// they can be names of folders.
var hostileTexts = []string{
	`<script>alert(1)<`, `"><script src=x>`, `' onmouseover='alert(1)`, `<img src=x onerror=alert(1)>`, `<svg onload=alert(1)>`, `javascript:alert(1)`, `{{.}}`, "`", `a&amp;b`, `a?q=1#x`, `a%2fb`, `%2e%2e`, `..x`, `a;b`,
	`a b+c`, "\u202egnp.exe", "\u200b", "line\nbreak", "\x1b[31mred", "\xff\xfe", `back\slash`, `C:x`, `</textarea></select></title>`, `-->`, `$(touch x)`,
}

// page is what a browser makes of a page: its links, and what may run a script.
func inspect(t *testing.T, what, page string) (links []string) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(page))
	for z.Next() != html.ErrorToken {
		token := z.Token()
		if token.Type == html.TextToken {
			if i := strings.IndexFunc(token.Data, func(r rune) bool { return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf) }); i >= 0 {
				t.Errorf("%s: a control character in %.100q", what, token.Data[i:])
			}
			continue
		}
		if slices.Contains([]string{"img", "svg", "iframe", "object", "embed", "base", "textarea", "style"}, token.Data) {
			t.Errorf("%s: an element %s", what, token)
		}
		for _, a := range token.Attr {
			switch address, err := url.Parse(a.Val); {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc":
				t.Errorf("%s: an attribute in %s", what, token)
			case a.Key == "href" || a.Key == "src" || a.Key == "action" || a.Key == "formaction":
				if err != nil || address.Host != "" || address.Scheme != "" || !strings.HasPrefix(a.Val, "/") || strings.HasPrefix(a.Val, "//") {
					t.Errorf("%s: a link elsewhere: %s", what, token)
				}
				if a.Key == "href" {
					links = append(links, a.Val)
				}
			}
			if token.Data == "script" && (a.Key != "src" || a.Val != "/script.js") {
				t.Errorf("%s: a script %s", what, token)
			}
		}
		if token.Data == "script" && token.Type == html.StartTagToken && len(token.Attr) == 0 {
			t.Errorf("%s: a script within the page", what)
		}
	}
	return links
}

// TestHostileRuns: whatever a folder and the strings of its run.json are, the pages show them
// as text, and every link on them leads to the page that it names.
func TestHostileRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var kept []string
	for i, text := range hostileTexts {
		r := sample("x", uint64(i), 50)
		r.Name, r.Preset, r.Environment.Revision, r.Environment.CPU, r.Environment.GoVersion = text, text, text, text, text
		r.Impls[1].Name = text
		r.Workloads[0].Key = "" // follows below
		change := func(c *record.Cell) {
			c.Workload, c.Params = text, []record.Param{{Key: "k" + text, Value: text}}
			if c.Impl == "lockfree" {
				c.Impl = text
			}
		}
		for j := range r.Cells {
			change(&r.Cells[j])
		}
		for j := range r.Forks {
			change(&r.Forks[j].Cell)
		}
		r.Workloads[0].Key, r.Workloads[0].Name = r.Cells[0].WorkloadKey(), text
		if err := os.Mkdir(filepath.Join(dir, text), 0o755); err != nil {
			t.Logf("this system has no folder %q: %v", text, err)
			continue
		}
		keep(t, dir, text, r)
		// As run.json stores it, since JSON replaces bytes that are not UTF-8.
		read, err := record.ReadRun(filepath.Join(dir, text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		kept = append(kept, text)
		for _, c := range read.Cells {
			name := filepath.Join(dir, text, "profiles", c.FileName(), "cpu.pb.gz")
			if os.MkdirAll(filepath.Dir(name), 0o755) == nil {
				_ = os.WriteFile(name, packed(t, cpuProfile("main.loop", text, 5)), 0o600) // the page has no link then
			}
		}
	}
	if len(kept) < len(hostileTexts)/2 {
		t.Fatalf("only %d of %d runs could be made", len(kept), len(hostileTexts))
	}
	write(t, dir, "broken/run.json", []byte(`{"schema": "<script>alert(1)</script>"}`))
	s := serve(t, dir)
	code, list := get(t, s, "/?q=%22%3E%3Cscript%3Ealert(1)&base=%22%3E%3Cscript%3E&preset=%3Cb%3E&order=%3Cb%3E")
	if inspect(t, "a hostile query", list); code != 200 {
		t.Errorf("a hostile query: %d", code)
	}
	_, list = get(t, s, "/")
	seen, followed := map[string]bool{}, 0
	queue := inspect(t, "the list", list)
	for len(queue) > 0 {
		link := queue[0]
		queue = queue[1:]
		link, _, _ = strings.Cut(link, "#")
		if seen[link] {
			continue
		}
		seen[link] = true
		code, page := get(t, s, link)
		if code != 200 {
			t.Errorf("the link %s leads to %d: %.500s", link, code, page)
			continue
		}
		switch {
		case strings.HasPrefix(link, "/pprof/"), strings.HasPrefix(link, "/diff/"):
			followed++
			if strings.Contains(page, "<script>alert") || strings.Contains(page, "<script src") || strings.Contains(page, "<img") {
				t.Errorf("%s: pprof's page has an element of the profile", link)
			}
		case strings.HasSuffix(link, "/report"), strings.Contains(link, "/files/"): // in a sandbox, or text
		case strings.HasPrefix(link, "/runs/"):
			queue = append(queue, inspect(t, link, page)...)
		}
	}
	if want := 5 * len(kept) / 2; followed < want {
		t.Errorf("%d profiles are linked, want %d or more", followed, want)
	}
	for _, base := range kept[:5] {
		for _, path := range []string{"/compare?", "/profiles?"} {
			_, page := get(t, s, path+url.Values{"base": {base}, "head": {kept[5]}, "force": {"1"}}.Encode())
			inspect(t, path, page)
		}
	}
	for _, text := range hostileTexts { // in addresses that name nothing
		for _, path := range []string{"/" + url.PathEscape(text), "/runs/x" + url.PathEscape(text) + "/", "/compare?base=x&head=" + url.QueryEscape(text), "/pprof/x/" + url.PathEscape(text) + "/cpu/top", "/difference?run=" + url.QueryEscape(text)} {
			_, page := get(t, s, path)
			inspect(t, path, page)
		}
	}
}

// TestBrokenRecords: a run.json of any content is listed, and ends no server.
func TestBrokenRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole, err := json.Marshal(sample("x", 1, 50))
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"", "null", "[]", "{}", `{"schema":1}`, `{"schema":8}`, strings.Repeat("[", 100_000), string(whole[:len(whole)/2]), string(whole), "\x00\xff"} {
		write(t, dir, fmt.Sprintf("r%d/run.json", i), []byte(text))
	}
	if err := os.MkdirAll(filepath.Join(dir, "folder", "run.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir)
	code, page := get(t, s, "/")
	if n := strings.Count(page, "data-unreadable"); code != 200 || n != 11 {
		t.Errorf("%d, %d unreadable runs; want 11:\n%s", code, n, page)
	}
	inspect(t, "the list", page)
}
