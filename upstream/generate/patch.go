package main

import (
	"bytes"
	"fmt"
	"strings"
)

// patch is one file that git apply and patch -p1 read.
type patch struct {
	name  string
	about string // its first line is the subject
	files []fileDiff
}

// fileDiff is the change of one file, as unified diff.
type fileDiff struct {
	path string
	diff string
}

func (p patch) text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Subject: %s\n\n", p.about)
	for _, f := range p.files {
		b.WriteString(f.diff)
	}
	return b.Bytes()
}

// created returns the diff that makes a new file. text ends with a newline.
func created(path string, text []byte) fileDiff {
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\nnew file mode 100644\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1,%[2]d @@\n", path, len(lines))
	for _, line := range lines {
		b.WriteString("+" + line)
	}
	b.WriteString("\n")
	return fileDiff{path, b.String()}
}

// insertion is text, of whole lines, that goes before a line of a file; lines count from 0.
type insertion struct {
	before int
	text   string
}

// context is the number of unchanged lines around a change.
const context = 3

// inserted returns the diff of insertions into a file. They are in order, and far enough
// apart for their contexts not to meet.
func inserted(path, source string, insertions []insertion) (fileDiff, error) {
	lines := strings.SplitAfter(source, "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n", path)
	added, last := 0, 0
	for _, in := range insertions {
		from, to := in.before-context, in.before+context
		if from < last || to > len(lines)-1 {
			return fileDiff{}, fmt.Errorf("%s: the change before line %d is too close to another one or to an end of the file", path, in.before+1)
		}
		text := strings.SplitAfter(strings.TrimSuffix(in.text, "\n"), "\n")
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", from+1, 2*context, from+1+added, 2*context+len(text))
		for _, line := range lines[from:in.before] {
			b.WriteString(" " + line)
		}
		for _, line := range text {
			b.WriteString("+" + line)
		}
		b.WriteString("\n")
		for _, line := range lines[in.before:to] {
			b.WriteString(" " + line)
		}
		added, last = added+len(text), to
	}
	return fileDiff{path, b.String()}, nil
}
