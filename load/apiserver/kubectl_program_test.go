package apiserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/load/synthetic"
)

// TestKubectl runs kubectl itself, where it is installed: the server must not refuse its
// requests.
func TestKubectl(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skipf("kubectl is not installed: %v", err)
	}
	f := start(t, []runtime.Object{smallPod("a", "p")}, Options{TLS: true, Token: "secret"},
		synthetic.SourceOptions{})
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, must[[]byte](t)(f.Kubeconfig()), 0o600); err != nil {
		t.Fatal(err)
	}
	const manifest = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","finalizers":["example.com/a"]},"spec":{"size":SIZE}}`
	for _, c := range []struct{ args, stdin, want string }{
		{"create -f -", strings.Replace(manifest, "SIZE", "1", 1), "widget.example.com/w created"},
		{"replace -f -", strings.Replace(manifest, "SIZE", "2", 1), "widget.example.com/w replaced"},
		{"apply -f -", strings.Replace(manifest, "SIZE", "3", 1), "widget.example.com/w configured"},
		{"get widgets w -o jsonpath={.spec.size}/{.metadata.generation}", "", "3/3"},
		{"delete widget w --dry-run=server", "", "deleted"},
		{"delete widget w --wait=false", "", "deleted"},
		{"get widgets w -o jsonpath={.metadata.deletionGracePeriodSeconds}", "", "0"},
		{"patch widget w --type=merge -p {\"metadata\":{\"finalizers\":null}}", "", "patched"},
		{"get widgets --ignore-not-found -o name", "", ""},
		{"label pod p x=y", "", "labeled"},
		{"delete pod p", "", "deleted"},
		{"get pods --ignore-not-found -o name", "", ""},
	} {
		cmd := exec.CommandContext(within(t), program,
			append(strings.Fields(c.args), "--namespace=a", "--kubeconfig="+kubeconfig,
				"--cache-dir="+dir)...)
		cmd.Stdin = strings.NewReader(c.stdin)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.want) || c.want == "" && len(out) > 0 {
			t.Errorf("kubectl %s: %v, %q, want %q", c.args, err, out, c.want)
		}
	}
}
