package report

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/informerbench/informerbench/measure/memory"
)

// memoryOf is a report of two kinds. name is in the place of whatever comes from outside.
func memoryOf(name string) *Memory {
	fields := memory.Field{Bytes: 40e6, Equal: 30e6, Fields: []memory.Field{
		{Name: "spec", Path: "spec", Bytes: 25e6, Equal: 20e6, Fields: []memory.Field{
			{Name: "containers[]", Path: "spec.containers[]", Bytes: 20e6, Equal: 20e6}}},
		{Name: "metadata", Path: "metadata", Bytes: 12e6, Fields: []memory.Field{
			{Name: "annotations", Path: "metadata.annotations", Bytes: 10e6, Fields: []memory.Field{
				{Name: `["kubectl.kubernetes.io/last-applied-configuration"]`,
					Path:  `metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]`,
					Bytes: 9e6}}}}},
		{Name: "status", Path: "status", Bytes: 3e5},
	}}
	kind := memory.Kind{Version: "v1", Kind: "Pod" + name, Objects: 20000, Sampled: 5000, JSON: 80e6,
		Form: memory.FormTyped, Walked: 40e6, Fields: fields, Forms: []memory.Form{
			{Name: memory.FormTyped, Bytes: 44e6}, {Name: memory.FormUnstructured, Bytes: 120e6},
			{Name: memory.FormMetadata, Bytes: 8e6}},
		Remedies: []memory.Remedy{{Name: "as it is", Bytes: 44e6, PeakList: 95e6, PeakPages: 60e6},
			{Name: "metadata only", Bytes: 8e6, PeakList: 16e6, PeakPages: 12e6}}}
	small := kind
	small.Group, small.Kind, small.Objects, small.Sampled = "apps", "Deployment", 3, 3
	small.JSON, small.Misfit, small.Forms = 9000, true, nil
	small.Remedies = []memory.Remedy{{Name: "as it is", Bytes: 8000}}
	return &Memory{Source: "pods.json" + name, Objects: &memory.Report{
		Kinds: []memory.Kind{kind, small}, Strip: []string{"metadata.managedFields"}},
		Code: []memory.Snippet{{Title: "Fields stripped", Imports: []string{`"fmt"`},
			Code: "func strip(obj any) (any, error) { return obj, nil }\n"}}}
}

const memoryText = `What an informer keeps: 44.0 MB, for 20,003 objects in pods.json

Kinds, in MB
  objects   JSON  typed  unstructured  metadata  kind
   20,000   80.0   44.0           120       8.0  v1 Pod
        3  0.009      -             -         -  apps/v1 Deployment

v1 Pod: fields, typed
  A sample of 5,000 of the 20,000 objects was measured, and scaled by its bytes
  of JSON. A larger one finds more that is equal.
    MB  share  equal  field
  40.0   100%    75%  the whole object
  25.0    62%    80%  spec
  20.0    50%   100%    .containers[]
  12.0    30%     0%  metadata
  10.0    25%     0%    .annotations
   9.0    22%     0%      ["kubectl.kubernetes.io/last-applied-configuration"]
  The fields sum up to 40.0 MB, -9% off the 44.0 MB measured: trust their shares
  less.

v1 Pod: what a remedy leaves, in MB
  stays  of all  peak, one list  peak, pages  remedy
   44.0    100%            95.0         60.0  as it is
    8.0     18%            16.0         12.0  metadata only
  Fields stripped: metadata.managedFields.
`

func TestMemoryText(t *testing.T) {
	var out bytes.Buffer
	if err := memoryOf("").Write(&out, "text"); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := strings.Cut(out.String(), "\nHow it was measured"); got != memoryText {
		t.Errorf("got\n%s\nwant\n%s", got, memoryText)
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// What comes from outside cannot move the cursor, and is no markup.
func TestMemoryIsHarmless(t *testing.T) {
	m := memoryOf("<script>alert(1)</script>\x1b[31m|`\n# x")
	for _, format := range MemoryFormats {
		var out bytes.Buffer
		if err := m.Write(&out, format); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if strings.Contains(got, "\x1b") || strings.Contains(got, "\n# x") ||
			format != "text" && strings.Contains(got, "<script>") {
			t.Errorf("%s:\n%s", format, got)
		}
	}
}

// The page opens offline: it has no script, and names no address.
func TestMemoryPage(t *testing.T) {
	var out bytes.Buffer
	if err := memoryOf("").Write(&out, "html"); err != nil {
		t.Fatal(err)
	}
	page := html.UnescapeString(out.String())
	for _, want := range []string{"default-src 'none'", "<title>v1 Pod: 40.0 MB, ", ">spec</text>",
		"metadata.annotations", "<table>", "style-src 'sha256-"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if found := regexp.MustCompile(`(?i)<script|https?:|src=|style="|@import|url\(`).FindString(page); found != "" {
		t.Errorf("the page has %q", found)
	}
}

func TestMemoryJSON(t *testing.T) {
	var out bytes.Buffer
	if err := memoryOf("").Write(&out, "json"); err != nil {
		t.Fatal(err)
	}
	var back Memory
	if err := json.Unmarshal(out.Bytes(), &back); err != nil ||
		back.Objects.Kinds[0].Objects != 20000 {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestMemoryOfAHeap(t *testing.T) {
	m := &Memory{Source: "heap", Heap: &memory.Heap{Total: 100e6, Rate: 512 << 10, OtherBytes: 20e6,
		Decoded: []memory.Field{{Name: "v1 Pod", Path: "v1 Pod", Bytes: 70e6, Fields: []memory.Field{
			{Name: "spec", Path: "v1 Pod.spec", Bytes: 50e6}}}},
		Lost:      []memory.Field{{Name: "Go types, by JSON", Bytes: 10e6}},
		Other:     []memory.Field{{Name: "example.com/mine", Bytes: 15e6}},
		Informers: []string{"v1 Pod"}, Waits: []memory.Waits{
			{Of: "goroutines", ReadersWait: 9, Reading: 2, WritersWait: 1},
			{Of: "mutex", Total: 10 * time.Second, Methods: []memory.MethodWait{
				{Method: "List", Wait: 9 * time.Second, Times: 1234}}}}}}
	var out bytes.Buffer
	if err := m.Write(&out, "text"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"holds: 100 MB in heap", "  70.0    70%  v1 Pod\n  50.0    50%    .spec\n",
		"Informers were seen to list or watch: v1 Pod.", "  10.0    10%  Go types, by JSON",
		"Not of caches: 20.0 MB", "9 goroutines wait to read, 2 read, 1 wait to write",
		"The writer waits for readers", "List", "90%", "one each 512 KiB allocated"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
