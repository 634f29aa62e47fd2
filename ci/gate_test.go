// Package ci_test runs the gate's scripts: on a module with a stand-in for benchrun, and on a
// clone of this repository with a planted regression and without.
package ci_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/informerbench/informerbench/internal/testscript"
)

// absolute is a file of this folder.
func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a program and returns its exit code and what it printed.
func run(t *testing.T, dir string, env []string, name string, args ...string) (code int, out,
	errOut string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var o, e strings.Builder
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &o, &e
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GITHUB_RUN_ID=")
	cmd.Env = append(cmd.Env, env...)
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatalf("%s: %v", name, err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// must runs a program that has to succeed.
func must(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	if code, out, errOut := run(t, dir, nil, name, args...); code != 0 {
		t.Fatalf("%s %v: exit code %d\n%s%s", name, args, code, out, errOut)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	testscript.Write(t, path, text)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// needs skips where the scripts cannot run.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("skipped: the scripts need %s: %v", p, err)
		}
	}
}

// standIn is a benchrun that answers "pair" with the exit code STAND_IN_CODE and the Markdown
// of the file STAND_IN_SAYS.
const standIn = `package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	fmt.Fprintln(os.Stderr, "args", strings.Join(os.Args[1:], " "), "of", version)
	says, err := os.ReadFile(os.Getenv("STAND_IN_SAYS"))
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(says)
	code, err := strconv.Atoi(os.Getenv("STAND_IN_CODE"))
	if err != nil {
		panic(err)
	}
	os.Exit(code)
}
`

// aModule is a repository whose module lies in a folder of it: a commit with a command, and a
// change of it on a branch, beside which the main branch went on.
func aModule(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	mod := filepath.Join(root, "mod")
	must(t, root, "git", "init", "--quiet", "--initial-branch=main")
	write(t, filepath.Join(root, "README"), "no module here\n")
	must(t, root, "git", "add", ".")
	must(t, root, "git", "commit", "--quiet", "-m", "before the module")
	write(t, filepath.Join(mod, "go.mod"), "module example.org/mine\n\ngo 1.24\n")
	write(t, filepath.Join(mod, "cmd", "mybench", "main.go"), standIn)
	write(t, filepath.Join(mod, "cmd", "mybench", "version.go"),
		"package main\n\nconst version = \"base\"\n")
	write(t, filepath.Join(mod, "gates.txt"), "store/*/ns/op <= +5%\n")
	must(t, root, "git", "add", ".")
	must(t, root, "git", "commit", "--quiet", "-m", "base")
	must(t, root, "git", "checkout", "--quiet", "-b", "change")
	write(t, filepath.Join(mod, "cmd", "mybench", "version.go"),
		"package main\n\nconst version = \"head\"\n")
	must(t, root, "git", "commit", "--quiet", "-am", "head")
	must(t, root, "git", "checkout", "--quiet", "main")
	write(t, filepath.Join(mod, "cmd", "mybench", "version.go"),
		"package main\n\nthis does not compile\n")
	must(t, root, "git", "commit", "--quiet", "-am", "main goes on")
	must(t, root, "git", "checkout", "--quiet", "change")
	return mod
}

// Every exit code of benchrun pair becomes the script's outcome, exit code and comment, in a
// module that is not this one.
func TestOutcomes(t *testing.T) {
	needs(t, "bash", "git")
	mod := aModule(t)
	long := "### pass: all hold\n" + strings.Repeat("a line of the table, ä\n", 10_000)
	for _, c := range []struct {
		name, says     string
		pairs, code    int
		flags          []string
		outcome        string
		comment, notIn []string
	}{
		{"pass", "### pass: 3 of 3 hold\n", 0, 0, nil, "pass", []string{"### pass: 3 of 3 hold"},
			[]string{"do not fail", "artifact"}},
		{"regression", "### regression: store/update\n", 1, 1, nil, "regression",
			[]string{"### regression: store/update"}, nil},
		{"inconclusive", "### inconclusive: 1 of 3\n", 3, 0, nil, "inconclusive",
			[]string{"### inconclusive", "Inconclusive results do not fail this gate."}, nil},
		{"inconclusive fails when told so", "### inconclusive: 1 of 3\n", 3, 3,
			[]string{"--inconclusive", "fail"}, "inconclusive", []string{"### inconclusive"},
			[]string{"do not fail"}},
		{"broken", "", 1, 1, nil, "failed",
			[]string{"### failed: something measured is broken", "args pair"}, nil},
		{"wrong input", "", 2, 2, nil, "failed",
			[]string{"### failed: benchrun pair ended with exit code 2", "args pair"}, nil},
		{"interrupted", "", 130, 130, nil, "failed", []string{"exit code 130"}, nil},
		{"too long for a comment", long, 0, 0, nil, "pass", []string{"### pass", "cut here"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, says := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "says")
			write(t, says, c.says)
			args := append([]string{"--base", "main", "--package", "./cmd/mybench", "--gates", "gates.txt",
				"--budget", "7m", "--out", out, "--name", "mine"}, c.flags...)
			args = append(args, "--", "--component", "store", "--impl", "clientgo*")
			code, printed, errOut := run(t, mod,
				[]string{fmt.Sprint("STAND_IN_CODE=", c.pairs), "STAND_IN_SAYS=" + says},
				absolute(t, "gate.sh"), args...)
			if code != c.code || read(t, filepath.Join(out, "outcome")) != c.outcome+"\n" {
				t.Fatalf("exit code %d, want %d; outcome %swant %s\n%s%s", code, c.code,
					read(t, filepath.Join(out, "outcome")), c.outcome, printed, errOut)
			}
			comment := read(t, filepath.Join(out, "comment.md"))
			if comment != printed || !strings.HasPrefix(comment, "<!-- informerbench-gate: mine -->\n###") ||
				len(comment) > 65_536 {
				t.Errorf("the comment has %d bytes, printed were %d:\n%.200s", len(comment), len(printed),
					comment)
			}
			for _, want := range c.comment {
				if !strings.Contains(comment, want) {
					t.Errorf("the comment lacks %q:\n%.500s", want, comment)
				}
			}
			for _, wrong := range c.notIn {
				if strings.Contains(comment, wrong) {
					t.Errorf("the comment has %q:\n%.500s", wrong, comment)
				}
			}
			log := read(t, filepath.Join(out, "log.txt"))
			want := fmt.Sprintf(
				"args pair --component store --impl clientgo* --base %[1]s/bin/base --budget 7m --format "+
					"markdown --inconclusive fail -o %[1]s/pair --profile --gates gates.txt of head", out)
			if !strings.Contains(log, want) || !strings.Contains(errOut, want) {
				t.Errorf("benchrun was called otherwise than\n%s\nlog:\n%s", want, log)
			}
			if _, err := os.Stat(filepath.Join(out, "src")); err == nil {
				t.Error("the base's work tree was left behind")
			}
		})
	}
	code, out, errOut := run(t, mod,
		[]string{"STAND_IN_CODE=0", "STAND_IN_SAYS=" + filepath.Join(mod, "gates.txt"), "GITHUB_RUN_ID=7",
			"GITHUB_SERVER_URL=https://x", "GITHUB_REPOSITORY=a/b"},
		absolute(t, "gate.sh"), "--base", "main", "--package", "./cmd/mybench", "--profile", "no",
		"--out", filepath.Join(t.TempDir(), "o"))
	if code != 0 || !strings.Contains(out, "(https://x/a/b/actions/runs/7#artifacts)") ||
		strings.Contains(errOut, "--profile") {
		t.Errorf("on GitHub: exit code %d\n%s%s", code, out, errOut)
	}
}

// Wrong input ends with 2 and a sentence that names the flag, before anything is built.
func TestWrongInput(t *testing.T) {
	needs(t, "bash", "git")
	mod, full := aModule(t), t.TempDir()
	write(t, filepath.Join(full, "mine"), "keep")
	fresh := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		args []string
		dir  string
		want string
	}{
		{nil, mod, "--base is missing"},
		{[]string{"--base"}, mod, "--base needs a value"},
		{[]string{"--base", "nowhere"}, mod, "--base nowhere: no such revision here; fetch it"},
		{[]string{"--base", "main", "--inconclusive", "maybe"}, mod,
			"--inconclusive maybe: want pass or fail"},
		{[]string{"--base", "main", "--profile", "maybe"}, mod, "--profile maybe: want yes or no"},
		{[]string{"--base", "main", "--gates", "nowhere.txt"}, mod, "--gates nowhere.txt"},
		{[]string{"--base", "main", "--name", "a-->b"}, mod, "--name a-->b"},
		{[]string{"--base", "main", "--speed", "1"}, mod, "unknown argument --speed"},
		{[]string{"--base", "main", "--out", full}, mod, "not an empty folder"},
		{[]string{"--base", "main", "--out", fresh}, filepath.Dir(mod), "no go.mod here"},
	} {
		code, out, errOut := run(t, c.dir, nil, absolute(t, "gate.sh"), c.args...)
		if code != 2 || !strings.Contains(errOut, c.want) || out != "" {
			t.Errorf("%v: exit code %d, want 2 and %q\n%s%s", c.args, code, c.want, out, errOut)
		}
	}
	if _, err := os.Stat(fresh); err == nil {
		t.Error("a folder was made for wrong input")
	}
	if read(t, filepath.Join(full, "mine")) != "keep" {
		t.Error("a file of mine was changed")
	}
	// What does not build is said in the comment.
	for base, want := range map[string]string{"change~1": "", "main": "",
		"change~2": "has no mod/go.mod"} {
		out := filepath.Join(t.TempDir(), "out")
		code, _, errOut := run(t, mod, nil, absolute(t, "gate.sh"), "--base", base, "--package",
			"./cmd/nowhere", "--out", out)
		comment := read(t, filepath.Join(out, "comment.md"))
		if want == "" {
			want = "building ./cmd/nowhere of the base"
		}
		if code != 2 || !strings.Contains(comment, "### failed: ") || !strings.Contains(comment, want) ||
			read(t, filepath.Join(out, "outcome")) != "failed\n" {
			t.Errorf("base %s: exit code %d\n%s\n%s", base, code, comment, errOut)
		}
	}
}

// The comment replaces the same gate's last one, and no other.
func TestComment(t *testing.T) {
	needs(t, "bash")
	bin, dir := t.TempDir(), t.TempDir()
	// It answers the listing as gh with --jq would, and writes down what else it is asked.
	write(t, filepath.Join(bin, "gh"), `#!/usr/bin/env bash
case $* in
'api user'*) echo me ;;
*--paginate*) [ -n "$MARKER" ] && printf '%s' "$FOUND" ;;
*) echo "$*" >>"$DID" ;;
esac
`)
	write(t, filepath.Join(dir, "comment.md"), "<!-- informerbench-gate: mine -->\n### pass\n")
	for found, want := range map[string]string{
		"":         "api --silent --method POST repos/a/b/issues/12/comments -F body=@comment.md\n",
		"31\n":     "api --silent --method PATCH repos/a/b/issues/comments/31 -F body=@comment.md\n",
		"31\n32\n": "api --silent --method PATCH repos/a/b/issues/comments/31 -F body=@comment.md\n",
	} {
		did := filepath.Join(t.TempDir(), "did")
		env := []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
			"GITHUB_REPOSITORY=a/b", "FOUND=" + found, "DID=" + did}
		code, out, errOut := run(t, dir, env, absolute(t, "comment.sh"), "12", "comment.md")
		if code != 0 || read(t, did) != want {
			t.Errorf("found %q: exit code %d, did %swant %s%s%s", found, code, read(t, did), want, out,
				errOut)
		}
	}
	if code, _, errOut := run(t, dir, nil, absolute(t, "comment.sh"), "12"); code != 2 ||
		!strings.Contains(errOut, "usage") {
		t.Errorf("without a file: exit code %d\n%s", code, errOut)
	}
}

// The repository's own job, and those that pages tell to copy, give the action inputs that it
// has.
func TestInputs(t *testing.T) {
	t.Parallel()
	type step struct {
		Uses string
		With map[string]string
	}
	var action struct{ Inputs map[string]any }
	if err := yaml.Unmarshal([]byte(read(t, "action.yml")), &action); err != nil ||
		len(action.Inputs) == 0 {
		t.Fatalf("action.yml: %v", err)
	}
	jobs := map[string]string{"ci.yml": read(t, "../.github/workflows/ci.yml")}
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		_, job, _ := strings.Cut(read(t, page), "```yaml\n")
		if job, _, _ = strings.Cut(job, "```\n"); strings.Contains(job, "informerbench/informerbench/ci@") {
			jobs[page] = job
		}
	}
	for name, text := range jobs {
		var workflow struct {
			Jobs map[string]struct{ Steps []step }
		}
		if err := yaml.Unmarshal([]byte(text), &workflow); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found := false
		for _, s := range workflow.Jobs["gate"].Steps {
			if s.Uses != "./ci" && !strings.HasPrefix(s.Uses, "informerbench/informerbench/ci@") {
				continue
			}
			found = true
			for input := range s.With {
				if action.Inputs[input] == nil {
					t.Errorf("%s gives the input %s, which the action does not have", name, input)
				}
			}
		}
		if !found {
			t.Errorf("%s does not use the action", name)
		}
	}
}
