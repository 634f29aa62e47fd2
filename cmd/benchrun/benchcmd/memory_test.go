package benchcmd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/memory"
	"github.com/informerbench/informerbench/report"
)

// podList is what kubectl prints of n small pods.
func podList(n int) string {
	var items []string
	for i := range n {
		items = append(
			items,
			fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"secretname-%d",`+
				`"labels":{"secretkey":"x"}},"spec":{"nodeName":"secretnode"}}`, i),
		)
	}
	return `{"apiVersion":"v1","items":[` + strings.Join(items, ",") + `],"kind":"List"}`
}

// measuredMemory runs benchrun memory, and returns its report of JSON.
func measuredMemory(t *testing.T, args ...string) *report.Memory {
	t.Helper()
	code, out, errOut := benchrun(t, append([]string{"memory", "--format", "json"}, args...)...)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	m := &report.Memory{}
	if err := json.Unmarshal([]byte(out), m); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out, "secretn") || strings.Contains(out, "secretk") {
		t.Errorf("a name is told:\n%s", out)
	}
	return m
}

func TestMemoryOfACluster(t *testing.T) {
	pods := synthetic.NewSource(synthetic.Generate(
		synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 1203, Namespaces: 3}, 1).All(),
		synthetic.SourceOptions{})
	defer pods.Stop()
	nodes := synthetic.NewSource(synthetic.Generate(
		synthetic.ObjectSpec{Kind: synthetic.KindNode, Count: 5}, 1).All(), synthetic.SourceOptions{})
	defer nodes.Stop()
	server, err := apiserver.New(map[schema.GroupVersionResource]*synthetic.Source{
		apiserver.Pods: pods, apiserver.Nodes: nodes}, apiserver.Options{TLS: true, Token: "abc"})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	config, err := server.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := write(t, "kubeconfig", string(config))
	m := measuredMemory(t, "--kubeconfig", kubeconfig, "--resource", "pods,nodes", "--sample", "100")
	objects := map[string]int{}
	for _, k := range m.Objects.Kinds {
		objects[k.Kind] = k.Objects
		if k.Sampled > 100 || len(k.Remedies) < 4 || k.Walked == 0 {
			t.Errorf("%+v", k)
		}
	}
	if objects["Pod"] != 1203 || objects["Node"] != 5 {
		t.Errorf("%v objects, want 1,203 pods and 5 nodes", objects)
	}
	if stats := server.Stats(); stats.Opened != 0 {
		t.Errorf("%d watches were opened: lists are enough", stats.Opened)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--resource", "pods", "--namespace", "nowhere"}, "leave out --namespace"},
		{[]string{"--resource", "things"}, "the server has"},
		{[]string{"--selector", "a=b=c"}, "selector"},
	} {
		code, _, errOut := benchrun(
			t,
			append([]string{"memory", "--kubeconfig", kubeconfig}, c.args...)...)
		if code != exitBadInput || !strings.Contains(errOut, c.want) {
			t.Errorf("%q: exit code %d, want %q\n%s", c.args, code, c.want, errOut)
		}
	}
}

func TestMemoryOfATrace(t *testing.T) {
	path, _ := recorded(t)
	m := measuredMemory(t, "--trace", path, "--as", "unstructured")
	if k := m.Objects.Kinds[0]; k.Kind != "Pod" || k.Objects != 20 || k.Form != "unstructured" {
		t.Errorf("%+v, want 20 unstructured pods", k)
	}
}

func TestMemoryFormats(t *testing.T) {
	t.Parallel()
	path := write(t, "pods.json", podList(50))
	for format, want := range map[string]string{"text": "\nKinds, in MB\n", "markdown": "\n### Kinds, in MB\n",
		"html": "<!doctype html>"} {
		file := filepath.Join(t.TempDir(), "out")
		code, out, errOut := benchrun(
			t,
			"memory",
			"--objects",
			path,
			"--format",
			format,
			"-o",
			file,
			"--strip",
			"metadata.managedFields,spec.containers[].env",
		)
		text, err := os.ReadFile(file)
		if code != 0 || err != nil || !strings.Contains(out, file) || !strings.Contains(string(text), want) ||
			strings.Contains(string(text), "secretn") ||
			strings.Contains(string(text), "secretk") {
			t.Errorf("%s: exit code %d, %v\n%s%s\n%s", format, code, err, out, errOut, text)
		}
	}
}

func TestMemoryOfStandardInput(t *testing.T) {
	t.Parallel()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), binary, "memory", "--objects", "-")
	c.Env = append(os.Environ(), asBenchrun+"=1")
	c.Stdin = strings.NewReader(podList(3))
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "for 3 objects in standard input") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A controller's pprof pages are sources too.
func TestMemoryOfAController(t *testing.T) {
	t.Parallel()
	pages := http.NewServeMux()
	pages.HandleFunc("/debug/pprof/", pprof.Index)
	server := httptest.NewServer(pages)
	defer server.Close()
	at := server.URL + "/debug/pprof/"
	code, out, errOut := benchrun(
		t,
		"memory",
		"--heap",
		at+"heap",
		"--goroutines",
		at+"goroutine",
		"--mutex",
		at+"mutex",
	)
	for _, want := range []string{"What the heap of a controller holds", "Not of caches", "at one moment",
		"SetMutexProfileFraction", "cannot tell"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Fatalf("exit code %d, want %q\n%s%s", code, want, out, errOut)
		}
	}
	code, _, errOut = benchrun(t, "memory", "--heap", server.URL)
	if code != exitBadInput || !strings.Contains(errOut, "404") ||
		!strings.Contains(errOut, "/debug/pprof/heap") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
}

func TestMemoryErrors(t *testing.T) {
	t.Parallel()
	pods, exists := write(t, "pods.json", podList(1)), write(t, "exists", "")
	cut := write(t, "cut.json", podList(2)[:150])
	for _, c := range []struct{ args, want []string }{
		{nil, []string{"0 sources", "--kubeconfig or --trace or --objects or --heap"}},
		{[]string{"--objects", pods, "--heap", pods}, []string{"2 sources"}},
		{[]string{"--objects", pods, "--namespace", "a"}, []string{"--namespace", "with --kubeconfig"}},
		{[]string{"--objects", pods, "--mutex", "a"}, []string{"--mutex", "with --heap"}},
		{[]string{"--heap", pods, "--strip", "a"}, []string{"--strip"}},
		{[]string{"--objects", pods, "--format", "pdf"}, []string{`"pdf"`, "text, markdown, json, html"}},
		{[]string{"--objects", pods, "--as", "json"}, []string{`"json"`, "typed or unstructured"}},
		{[]string{"--objects", pods, "--strip", "metadata.name"}, []string{"--strip", "caches need it"}},
		{[]string{"--objects", pods, "--strip", "a[b"}, []string{"--strip", `"[b"`, "status.images"}},
		{[]string{"--objects", pods, "--sample", "0"}, []string{"--sample", "1 or more"}},
		{[]string{"--objects", pods, "-o", exists}, []string{"exists", "-o"}},
		{[]string{"--objects", cut}, []string{"cut.json", "ends within the object behind byte"}},
		{[]string{"--objects", filepath.Join(t.TempDir(), "none")}, []string{"none"}},
		{[]string{"--heap", pods}, []string{"pods.json", "not a profile", "/debug/pprof/heap"}},
		{[]string{"--trace", pods}, []string{"pods.json"}},
		{[]string{pods}, []string{"no arguments"}},
	} {
		code, out, errOut := benchrun(t, append([]string{"memory"}, c.args...)...)
		if code != exitBadInput || out != "" {
			t.Errorf("%q: exit code %d, want %d; %s", c.args, code, exitBadInput, out)
		}
		for _, want := range c.want {
			if !strings.Contains(errOut, want) {
				t.Errorf("%q: %q lacks %q", c.args, errOut, want)
			}
		}
	}
}

// The code of all keepers compiles, in one file.
func TestMemoryKeepersCompile(t *testing.T) {
	t.Parallel()
	var names, imports []string
	for _, k := range memoryKeepers {
		names = append(names, k.Name)
	}
	code, err := memory.Code(&memory.Report{Kinds: []memory.Kind{{Version: "v1", Kind: "Pod"}}}, names)
	if err != nil {
		t.Fatal(err)
	}
	body := ""
	for _, s := range code[len(code)-len(names):] {
		imports, body = append(imports, s.Imports...), body+s.Code+"\n"
	}
	slices.Sort(imports)
	file := write(t, "code.go", "package code\n\nimport (\n"+
		strings.Join(slices.Compact(imports), "\n")+"\n)\n\n"+body)
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles |
		packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo}, file)
	if err != nil || len(pkgs) != 1 || len(pkgs[0].Errors) > 0 {
		t.Errorf("%s: %v, %v", body, err, pkgs)
	}
}
