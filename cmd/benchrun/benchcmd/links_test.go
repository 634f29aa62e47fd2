package benchcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each command that reads or writes a folder of results refuses a link in it by name, and
// leaves alone what the link leads to: the folder may come from someone else.
func TestLinksInResultsAreRefused(t *testing.T) {
	root := t.TempDir()
	in := func(name ...string) string { return filepath.Join(append([]string{root}, name...)...) }
	workload := write(t, "tiny.yaml", shardedWorkload)
	shard := func(of, dir string, more ...string) []string {
		return append([]string{"run", "-f", workload, "--impl", "btree,quadheap", "--forks", "4",
			"--procs", "1", "--skip-verify", "--profile=false", "--shard", of, "-o", dir}, more...)
	}
	for _, args := range [][]string{shard("1/2", in("1")), shard("2/2", in("2")),
		{"merge", in("whole"), in("1"), in("2")}, {"report", in("whole")}} {
		if code, _, errOut := benchrun(t, args...); code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, code, errOut)
		}
	}
	half, _ := interrupted(t)
	type command struct {
		from string   // the folder that gets a link
		args []string // DIR is its copy
	}
	for name, c := range map[string]command{
		"report":         {in("whole"), []string{"report", "DIR"}},
		"advise":         {in("whole"), []string{"advise", "DIR"}},
		"compare BASE":   {in("whole"), []string{"compare", "DIR", in("whole")}},
		"compare HEAD":   {in("whole"), []string{"compare", in("whole"), "DIR"}},
		"run --resume":   {half, []string{"run", "--resume", "DIR"}},
		"run -o":         {in("1"), shard("1/2", "DIR")},
		"run --continue": {in("1"), shard("1/2", "DIR", "--continue")},
		"pair -o":        {in("whole"), []string{"pair", "-f", workload, "-o", "DIR"}},
		"selfcheck -o":   {in("whole"), []string{"selfcheck", "-o", "DIR"}},
		"merge OUT":      {in("whole"), []string{"merge", "DIR", in("1"), in("2")}},
		"merge shard 1":  {in("1"), []string{"merge", "DIR/../out", "DIR", in("2")}},
		"merge shard 2":  {in("2"), []string{"merge", "DIR/../out", in("1"), "DIR"}},
	} {
		for _, link := range []string{"curves", "forks", filepath.Join("profiles", "cell"), "report.md"} {
			t.Run(name+"/"+link, func(t *testing.T) {
				dir, elsewhere := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "elsewhere")
				path := filepath.Join(dir, link)
				if err := os.CopyFS(dir, os.DirFS(c.from)); err != nil {
					t.Fatal(err)
				}
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if os.Rename(path, elsewhere) != nil { // the folder has none
					_ = os.Mkdir(elsewhere, 0o755)
				}
				if err := os.Symlink(elsewhere, path); err != nil {
					t.Skipf("skipped: no links here: %v", err)
				}
				before := content(t, elsewhere)
				var args []string
				for _, arg := range c.args {
					args = append(args, strings.ReplaceAll(arg, "DIR", dir))
				}
				code, _, errOut := benchrun(t, args...)
				if code != exitBadInput || !strings.Contains(errOut, filepath.Join("run", link)+" is a link") {
					t.Errorf("exit code %d, not one of a link:\n%s", code, errOut)
				}
				if after := content(t, elsewhere); after != before {
					t.Errorf("elsewhere has\n%s\nafter\n%s", after, before)
				}
				if _, err := os.Stat(filepath.Join(dir, "..", "out")); !os.IsNotExist(err) {
					t.Errorf("a merge has written: %v", err)
				}
			})
		}
	}
}
