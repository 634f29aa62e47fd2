package load

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

func TestWithoutCredentials(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                      "",
		"pods of team@example":  "pods of team@example",
		"https://10.0.0.1:6443": "https://10.0.0.1:6443",
		"recorded from https://admin:s3cret@10.0.0.1:6443/k8s": "recorded from https://10.0.0.1:6443/k8s",
		"https://token@host":                          "https://host",
		"https://u:p@ss:w@rd@host/a@b":                "https://host/a@b",
		`Get "https://u:***@h/api": via http://x:y@p`: `Get "https://h/api": via http://p`,
		"imported from s3://key:secret@bucket/a.csv":  "imported from s3://bucket/a.csv",
	} {
		if got := WithoutCredentials(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// A trace of an older program may contain a password; the trace that is read does not.
func TestOldTracesLoseTheirCredentials(t *testing.T) {
	t.Parallel()
	const source = "recorded from https://admin:s3cret@10.0.0.1:6443"
	var blocks, pods bytes.Buffer
	w, err := NewTraceWriter(&blocks,
		TraceHeader{Source: source, Resources: []TraceResource{podsResource}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(0, ""); err != nil {
		t.Fatal(err)
	}
	zip := gzip.NewWriter(&pods)
	head := fmt.Sprintf(
		`{"format":"informerbench-trace","version":1,"source":%q,"seed":1,"compress":1}`+"\n", source)
	sum := sha256.Sum256([]byte(head))
	fmt.Fprintf(zip, `%s{"events":0,"sha256":%q}`+"\n", head, hex.EncodeToString(sum[:]))
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]*bytes.Buffer{"version 2": &blocks, "version 1": &pods} {
		tr, err := ReadTrace(name, file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if strings.Contains(tr.Source, "s3cret") || !strings.Contains(tr.Source, "10.0.0.1:6443") {
			t.Errorf("%s: the source is %q", name, tr.Source)
		}
	}
}
