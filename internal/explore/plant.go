//go:build explore

package explore

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// Fault is a mistake that the explorer must find. It is planted in a copy of a source file,
// so that the file itself contains no fault.
type Fault struct {
	Name string
	File string // its path from the folder of the test
	// Edits are pairs of a text that occurs in File exactly once, and its replacement. The
	// replacement calls explore.Planted(Name).
	Edits [][2]string
}

var flagPlanted = flag.Bool("explore.planted", false,
	"the binary was built with planted faults; set by the test that builds it")

// Plant builds the package of the test again with the faults planted, and runs the test in
// that build. There it activates one fault after the other and calls find, which must find
// it.
func Plant(t *testing.T, faults []Fault, find func(t *testing.T, fault string)) {
	t.Helper()
	if *flagPlanted {
		for _, f := range faults {
			t.Run(f.Name, func(t *testing.T) {
				planted = f.Name
				defer func() { planted = "" }()
				find(t, f.Name)
			})
		}
		return
	}
	overlay := plantAll(t, faults)
	args := []string{"test", "-count=1", "-v", "-tags=" + tags(), "-overlay=" + overlay,
		"-run=^" + t.Name() + "$", ".", "-explore.planted"}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	var out bytes.Buffer
	cmd.Stdout = io.MultiWriter(&out, &foundLines{})
	cmd.Stderr = cmd.Stdout
	if err := cmd.Run(); err != nil {
		_, _ = os.Stdout.Write(out.Bytes())
		t.Errorf("%s: %v", cmd, err)
	}
	if n := strings.Count(out.String(), "--- PASS: "+t.Name()+"/"); n != len(faults) {
		t.Errorf("%d of %d faults were found", n, len(faults))
	}
}

// foundLines prints the lines that say that a fault was found, as they come.
type foundLines struct{ line []byte }

func (f *foundLines) Write(p []byte) (int, error) {
	for _, b := range p {
		if f.line = append(f.line, b); b == '\n' {
			if bytes.HasPrefix(f.line, []byte("FOUND")) {
				_, _ = os.Stdout.Write(f.line)
			}
			f.line = f.line[:0]
		}
	}
	return len(p), nil
}

// plantAll writes the copies, and the file for go's flag -overlay.
func plantAll(t *testing.T, faults []Fault) (overlay string) {
	t.Helper()
	texts := map[string]string{}
	for _, f := range faults {
		text, read := texts[f.File]
		if !read {
			b, err := os.ReadFile(f.File)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		for _, e := range f.Edits {
			if n := strings.Count(text, e[0]); n != 1 {
				t.Fatalf("fault %q cannot be planted: %q stands in %s %d times; adapt it to the code", f.Name,
					e[0], f.File, n)
			}
			text = strings.Replace(text, e[0], e[1], 1)
		}
		texts[f.File] = text
	}
	dir, replace := t.TempDir(), map[string]string{}
	for file, text := range texts {
		original, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		replace[original] = filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(replace[original], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay
}

// tags are the build tags of this binary.
func tags() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				return s.Value
			}
		}
	}
	return "explore"
}
