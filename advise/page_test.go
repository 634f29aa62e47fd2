package advise

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/which.md anew")

func TestPageIsMadeFromTheRules(t *testing.T) {
	t.Parallel()
	var page bytes.Buffer
	if err := Rules().WritePage(&page); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "docs", "which.md")
	if *update {
		if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(kept, page.Bytes()) {
		t.Errorf("docs/which.md is not what the rules say (%v): go generate ./advise", err)
	}
}

// Every link of the page leads to a heading of a page that exists.
func TestPageLinksResolve(t *testing.T) {
	t.Parallel()
	docs := filepath.Join(root, "docs")
	page, err := os.ReadFile(filepath.Join(docs, "which.md"))
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(page), -1)
	if len(links) < 20 {
		t.Fatalf("%d links: the test sees nothing", len(links))
	}
	for _, l := range links {
		file, fragment, _ := strings.Cut(l[1], "#")
		text := page
		if file != "" {
			if text, err = os.ReadFile(filepath.Join(docs, file)); err != nil {
				t.Error(err)
			}
		}
		if fragment != "" && !headings(text)[fragment] {
			t.Errorf("%s: no such heading", l[1])
		}
	}
}

func headings(page []byte) map[string]bool {
	out := map[string]bool{}
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(page), -1) {
		out[anchor(h[1])] = true
	}
	return out
}
