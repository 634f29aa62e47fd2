package architecture

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)[^)]*\)`) // with the section, without the title
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	code    = regexp.MustCompile("`[^`\n]*`")
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *$`)
	linked  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	anchor  = regexp.MustCompile(`<a (?:id|name)="([^"]+)">`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// sections are the names by which a link can lead to a part of a page: those that GitHub gives
// to headings, and the page's own anchors.
func sections(page string) map[string]bool {
	all := map[string]bool{}
	page = fence.ReplaceAllString(page, "")
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		name := strings.ToLower(linked.ReplaceAllString(m[1], "$1"))
		name = strings.ReplaceAll(dropped.ReplaceAllString(name, ""), " ", "-")
		unique := name
		for n := 1; all[unique]; n++ {
			unique = fmt.Sprintf("%s-%d", name, n)
		}
		all[unique] = true
	}
	for _, m := range anchor.FindAllStringSubmatch(page, -1) {
		all[m[1]] = true
	}
	return all
}

func TestSections(t *testing.T) {
	t.Parallel()
	got := sections("# One, `two` and [three](a.md)\n```\n# four\n```\n## Again\n## Again\n<a " +
		"id=\"five\"></a>x_y\n")
	for _, want := range []string{"one-two-and-three", "again", "again-1", "five"} {
		if !got[want] {
			t.Errorf("no section %q among %v", want, got)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d sections, want 4: %v", len(got), got)
	}
}

// TestDocumentationLinksLeadSomewhere follows every link of the documentation that is no
// address: there must be the file and, in a page, the section.
func TestDocumentationLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	root, checked := filepath.Join("..", ".."), 0
	pages := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".git") || path == filepath.Join(root, "results")) {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(
			code.ReplaceAllString(fence.ReplaceAllString(string(text), ""), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			checked++
			file, section, _ := strings.Cut(m[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
				continue
			}
			if section == "" || filepath.Ext(target) != ".md" {
				continue
			}
			if pages[target] == nil {
				page, err := os.ReadFile(target)
				if err != nil {
					return err
				}
				pages[target] = sections(string(page))
			}
			if !pages[target][section] {
				t.Errorf("%s links to %s, and %s has no such section", path, m[1], target)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked == 0 {
		t.Error("no link was found: the test sees nothing")
	}
}

// TestPagesFitInTheHead bounds the README, the pages of docs, all Markdown, and its lines.
func TestPagesFitInTheHead(t *testing.T) {
	t.Parallel()
	root, docs, all := filepath.Join("..", ".."), 0, 0
	for _, pattern := range []string{"*.md", "docs/*.md", "upstream/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines, words := strings.Split(string(text), "\n"), len(strings.Fields(string(text)))
			specs := false // of a table that results writes
			all += words
			if strings.HasPrefix(pattern, "docs/") {
				docs += words
			}
			if filepath.Base(file) == "README.md" && pattern == "*.md" &&
				(len(lines) > 121 || words > 700) {
				t.Errorf("%s: %d lines and %d words, want 120 and 700", file, len(lines)-1, words)
			}
			for n, line := range lines {
				specs = (specs || strings.HasPrefix(line, "<!--")) && !strings.HasSuffix(line, "-->")
				if utf8.RuneCountInString(line) > 100 && !strings.HasPrefix(line, "|") && !specs {
					t.Errorf("%s:%d is longer than 100 columns", file, n+1)
				}
			}
		}
	}
	if docs > 15_000 || all > 20_000 {
		t.Errorf("%d words in docs and %d in all, want 15,000 and 20,000", docs, all)
	}
}
