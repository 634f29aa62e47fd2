package web

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"go.uber.org/goleak"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sample is a run of two stores.
func sample(name string, seed uint64, ns float64) *record.Run {
	r := recordtest.Run(recordtest.Spec{Name: name, Forks: 8, Seed: seed, Duets: true, Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100}, {Name: "lockfree", NsPerOp: ns}}})
	r.Environment.Revision = "0123456789abcdef"
	return r
}

// keep writes a run below dir.
func keep(t *testing.T, dir, id string, r *record.Run) {
	t.Helper()
	folder := filepath.Join(dir, filepath.FromSlash(id))
	if err := errors.Join(os.MkdirAll(folder, 0o755), record.WriteRun(folder, r)); err != nil {
		t.Fatal(err)
	}
}

// write writes a file below dir.
func write(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// serve makes a server over dir that is asked without a network.
func serve(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := New(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// get asks for a path of the server as a program on this machine does.
func get(t *testing.T, s http.Handler, path string, headers ...string) (int, string) {
	t.Helper()
	res := answer(s, http.MethodGet, path, headers...)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func answer(s http.Handler, method, path string, headers ...string) *http.Response {
	req := httptest.NewRequest(method, path, nil)
	req.Host = "127.0.0.1:80"
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	return w.Result()
}

// wants checks that a page has some texts and lacks others, which begin with "!".
func wants(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		lacks, without := strings.CutPrefix(text, "!")
		if strings.Contains(page, lacks) == without {
			t.Errorf("the page has %q: %v, want the contrary:\n%.3000s", lacks, without, page)
		}
	}
}

// cpuProfile is a profile in which a function calls another.
func cpuProfile(caller, callee string, value int64) *profile.Profile {
	functions := []*profile.Function{{ID: 1, Name: caller, SystemName: caller, Filename: "main.go"}, {ID: 2, Name: callee, SystemName: callee, Filename: "store.go"}}
	mapping := &profile.Mapping{ID: 1, Start: 1, Limit: 1 << 40, File: "/bin/true", BuildID: "abcdef"}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10_000_000,
		Function: functions, Mapping: []*profile.Mapping{mapping},
		Location: []*profile.Location{
			{ID: 1, Address: 100, Mapping: mapping, Line: []profile.Line{{Function: functions[0], Line: 1}}},
			{ID: 2, Address: 200, Mapping: mapping, Line: []profile.Line{{Function: functions[1], Line: 2}}},
		},
	}
	p.Sample = []*profile.Sample{{Location: []*profile.Location{p.Location[1], p.Location[0]}, Value: []int64{value, value * 10_000_000}}}
	return p
}

// packed is a profile as a run's folder has it.
func packed(t *testing.T, p *profile.Profile) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if err := errors.Join(p.WriteUncompressed(z), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// withProfiles writes two runs whose cells have CPU profiles, and returns the names of the
// folders of the reference's and the other's.
func withProfiles(t *testing.T, dir string) (reference, other string) {
	t.Helper()
	for i, id := range []string{"base", "head"} {
		r := sample(id, uint64(i), 50)
		keep(t, dir, id, r)
		for n, c := range r.Cells {
			write(t, dir, profileFile(id, c.FileName(), "cpu"), packed(t, cpuProfile("main.loop", "callee."+c.Impl, int64(10+i+n))))
		}
		reference, other = r.Cells[0].FileName(), r.Cells[1].FileName()
	}
	return reference, other
}
