package presets

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/load"
)

func TestPresets(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, p := range All() {
		if p.Description == "" || p.Source == "" || len(p.Workloads) == 0 {
			t.Errorf("preset %s lacks a description, a source or workloads", p.Name)
		}
		if found, err := Lookup(p.Name); err != nil || !reflect.DeepEqual(found, p) {
			t.Errorf("Lookup(%q): %+v, %v", p.Name, found, err)
		}
		for _, w := range p.Workloads {
			if names[w.Name] {
				t.Errorf("two workloads are called %s", w.Name)
			}
			names[w.Name] = true
			if err := w.Validate(); err != nil {
				t.Errorf("%s of %s: %v", w.Name, p.Name, err)
			}
			if w.Source != p.Source {
				t.Errorf("%s of %s has the source %q", w.Name, p.Name, w.Source)
			}
			var out bytes.Buffer
			if err := load.WriteWorkload(&out, w); err != nil {
				t.Fatal(err)
			}
			read, err := load.ParseWorkload("out.yaml", out.Bytes())
			if err != nil || !reflect.DeepEqual(read, w) {
				t.Errorf("read back\n%+v, %v\nwritten\n%+v\n%s", read, err, w, out.String())
			}
			for _, v := range w.Variants() {
				if err := v.Workload.Validate(); err != nil {
					t.Errorf("%s %s=%d: %v", w.Name, v.Key, v.Value, err)
				}
			}
		}
	}
	want := `unknown preset "zebra": have quick, lock-starvation, stores`
	if _, err := Lookup("zebra"); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
