package report

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// pageWith is the parsed page of a run with its profiles.
func pageWith(t *testing.T, r *record.Run, profiles *Profiles) (*html.Node, string) {
	t.Helper()
	var page bytes.Buffer
	if err := withProfiles(of(t, r), profiles).WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(bytes.NewReader(page.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return root, page.String()
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textWithin(n *html.Node) string {
	var out strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			out.WriteString(c.Data)
		}
	}
	return out.String()
}

// Each cell with profiles has a place in the page with an anchor, its data, tables and
// commands, and every row of the results leads there.
func TestPageShowsWhereTheTimeGoes(t *testing.T) {
	t.Parallel()
	dir, r := profiled(t)
	profiles, _ := ReadProfiles(folder(t, dir), r)
	root, page := pageWith(t, r, profiles)
	cells, links, json := map[string]string{}, map[string]int{}, ""
	for n := range root.Descendants() {
		switch {
		case n.Data == "details" && attribute(n, "class") == "flame":
			cells[attribute(n, "id")] = textWithin(n)
		case n.Data == "a" && strings.HasPrefix(attribute(n, "href"), "#profile-"):
			links[attribute(n, "href")[1:]]++
		case n.Data == "script" && attribute(n, "id") == "flame-data":
			json = textWithin(n)
		}
	}
	rows := strings.Count(page, "<tbody id=")
	for id, want := range map[string][]string{
		"profile-store-store-ops-objects-10-reference-p2": {
			"reference", "1s CPU in 100 samples", "100 MiB allocated", "runtime.mallocgc", "60.0% (600ms)",
			"cache.(*threadSafeMap).List", "20.0% (200ms)", "80.0% (800ms)",
			"go tool pprof -http=: profiles/store_store-ops_objects-10_reference_p2/cpu.pb.gz",
			"-sample_index=alloc_space",
		},
		"profile-store-store-ops-objects-10-slow-p2": {
			"slow.(*Store).Get", "go tool pprof -http=: -normalize " +
				"'-diff_base=profiles/store_store-ops_objects-10_reference_p2/cpu.pb.gz'",
		},
	} {
		for _, w := range want {
			if !strings.Contains(strings.ReplaceAll(cells[id], "'", ""), strings.ReplaceAll(w, "'", "")) {
				t.Errorf("%s lacks %q:\n%s", id, w, cells[id])
			}
		}
		// The links are a cell's own permalink, that of the reference and one per row.
		if links[id] < rows+1 || rows == 0 {
			t.Errorf("%d links lead to %s, for %d rows", links[id], id, rows)
		}
		delete(links, id)
	}
	if len(cells) != 2 || len(links) > 0 {
		t.Errorf("the page has cells %v, and links to %v which are none", cells, links)
	}
	decoded := decode(t, json)
	if len(decoded.Cells) != 2 || decoded.Cells[0].Against != -1 || decoded.Cells[1].Against != 0 ||
		len(decoded.Kinds) != len(decoded.Names) {
		t.Errorf("the data are %s", json)
	}
	if got := outline(decoded.Cells[1].CPU, decoded.Names); !strings.Contains(got,
		"(*Store).reader=17 .k8s.io/client-go/tools/cache.(*threadSafeMap).List=16 ..runtime.mallocgc=12") {
		t.Errorf("the tree is %s", got)
	}
}

func decode(t *testing.T, text string) (out flameData) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Without profiles the page has neither the section nor the data.
func TestPageWithoutProfiles(t *testing.T) {
	t.Parallel()
	for _, profiles := range []*Profiles{nil, {}} {
		if _, page := pageWith(t, sampleRun(6), profiles); strings.Contains(page, `id="profiles"`) ||
			strings.Contains(page, `id="flame-data"`) || strings.Contains(page, `href="#profiles"`) {
			t.Error("the page speaks of profiles that the run did not take")
		}
	}
}

// The page of a run as large as the default one, with profiles larger than real ones,
// stays below 1 MB.
func TestPageStaysBelowAMegabyte(t *testing.T) {
	t.Parallel()
	spec := recordtest.Spec{Forks: 6}
	for i := range 40 {
		spec.Impls = append(spec.Impls,
			recordtest.Impl{Name: "implementation-" + string(rune('a'+i%26)) + string(rune('a'+i/26)),
				NsPerOp: 100 + float64(i)})
	}
	r := recordtest.Run(spec)
	rng := rand.New(rand.NewPCG(1, 1))
	profiles := &Profiles{byFork: map[int]cellProfiles{}}
	for i := range 40 {
		profiles.byFork[i] = cellProfiles{randomCalls(rng, 120), randomCalls(rng, 120)}
	}
	_, page := pageWith(t, r, profiles)
	if n := strings.Count(page, `<details class="flame"`); n != 40 {
		t.Errorf("%d cells have graphs, want 40", n)
	}
	if len(page) > 1_000_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	t.Logf("the page has %d bytes", len(page))
}

// report.md says how to look at each profile.
func TestMarkdownNamesTheProfiles(t *testing.T) {
	t.Parallel()
	_, r := profiled(t)
	var md bytes.Buffer
	if err := of(t, r).WriteMarkdown(&md); err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cells {
		command := "\ngo tool pprof -http=: profiles/" + c.FileName() + "/cpu.pb.gz\n"
		if got := strings.Contains(md.String(), command); got != (c.Role == "") {
			t.Errorf("%s: that the report has the command is %v", c.ID(), got)
		}
	}
}
