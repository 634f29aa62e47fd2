package main

import (
	"bytes"
	"fmt"
	"strings"
)

// patch is one file that git am, git apply and patch -p1 read.
type patch struct {
	name  string
	place string // among the patches: "1/3"
	about string // its first line is the subject
	files []fileDiff
}

// fileDiff is the change of one file, as unified diff.
type fileDiff struct {
	path string
	diff string
}

// text is the patch as a mail, which git am makes a commit of. Whoever sends it gives it another
// author: --reset-author.
func (p patch) text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "From %040d Mon Sep 17 00:00:00 2001\nFrom: informerbench "+
		"<informerbench@localhost>\nDate: Sat, 28 Nov 2026 00:00:00 +0000\nSubject: [PATCH %s] "+
		"%s\n\n---\n", 0, p.place, p.about)
	for _, f := range p.files {
		b.WriteString(f.diff)
	}
	return b.Bytes()
}

// created returns the diff that makes a new file. text ends with a newline.
func created(path string, text []byte) fileDiff {
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\nnew file mode 100644\n--- /dev/null\n+++ "+
		"b/%[1]s\n@@ -0,0 +1,%[2]d @@\n", path, len(lines))
	for _, line := range lines {
		b.WriteString("+" + line)
	}
	b.WriteString("\n")
	return fileDiff{path, b.String()}
}

// change is text, of whole lines, that goes before a line of a file and takes the place of
// the next instead lines; lines count from 0.
type change struct {
	before  int
	instead int
	text    string
}

// context is the number of unchanged lines around a change.
const context = 3

// changed returns the diff of changes of a file. They are in order, and far enough apart for
// their contexts not to meet.
func changed(path, source string, changes []change) (fileDiff, error) {
	lines := strings.SplitAfter(source, "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n", path)
	write := func(mark string, lines []string) {
		for _, line := range lines {
			b.WriteString(mark + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	added, last := 0, 0
	for _, c := range changes {
		after := c.before + c.instead
		from, to := c.before-context, after+context
		if from < last || to > len(lines)-1 {
			return fileDiff{}, fmt.Errorf(
				"%s: the change before line %d is too close to another one or to an end of the file", path,
				c.before+1)
		}
		text := strings.SplitAfter(strings.TrimSuffix(c.text, "\n"), "\n")
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", from+1, to-from, from+1+added,
			to-from-c.instead+len(text))
		write(" ", lines[from:c.before])
		write("-", lines[c.before:after])
		write("+", text)
		write(" ", lines[after:to])
		added, last = added+len(text)-c.instead, to
	}
	return fileDiff{path, b.String()}, nil
}
