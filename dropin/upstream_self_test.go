package dropin_test

import (
	"strings"
	"testing"
)

// A test that fails is reported as such, and a name that is gone is named.
func TestFailuresAreSeen(t *testing.T) {
	t.Parallel()
	s := upstreamSuite{
		Theirs: "k8s.io/client-go/util/workqueue",
		Ours:   "github.com/informerbench/informerbench/dropin/workqueue",
		Files:  []string{"queue_test.go"},
		Bodies: map[string]string{"TestLen": `t.Error("broken on purpose")`},
	}
	tmp := t.TempDir()
	overlay, tests, err := s.overlay(tmp)
	if err != nil {
		t.Fatal(err)
	}
	modules, err := s.modules(tmp)
	if err != nil {
		t.Fatal(err)
	}
	results, output, err := s.goTest(overlay, modules, append(tests, "TestOfNothing"))
	if err != nil {
		t.Fatal(err)
	}
	if results["TestLen"] != "fail" || !strings.Contains(output["TestLen"], "broken on purpose") ||
		results["TestReinsert"] != "pass" {
		t.Errorf("results %v, output of TestLen %q", results, output["TestLen"])
	}
	if !strings.HasPrefix(results["TestOfNothing"], "no result") {
		t.Errorf("a test that did not run: %q", results["TestOfNothing"])
	}
	s.LeftOut = map[string]string{"TestGoneLongAgo": "gone"}
	if _, _, err := s.overlay(t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "has no TestGoneLongAgo") {
		t.Errorf("a name that is gone: %v", err)
	}
	s.LeftOut, s.Bodies = nil, map[string]string{"TestLen": "no Go at all ("}
	if _, _, err := s.overlay(t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "the body of TestLen") {
		t.Errorf("a body that is no Go: %v", err)
	}
	s.Bodies = map[string]string{"TestLen": "undefined()"}
	if overlay, tests, err = s.overlay(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.goTest(overlay, modules, tests); err == nil ||
		!strings.Contains(err.Error(), "undefined: undefined") {
		t.Errorf("a test that does not compile: %v", err)
	}
}
