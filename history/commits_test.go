package history

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// repository makes a git repository with n commits and returns them, oldest first.
func repository(t *testing.T, n int) (dir string, commits []string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine: the order of commits was not tested")
	}
	dir = t.TempDir()
	git := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	for i := range n {
		git("commit", "-q", "--allow-empty", "-m", fmt.Sprint(i))
		commits = append(commits, git("rev-parse", "HEAD"))
	}
	return dir, commits
}

func TestCommitOfARevision(t *testing.T) {
	t.Parallel()
	commit := strings.Repeat("0a", 20)
	for rev, want := range map[string]string{
		commit: commit, commit + "+dirty": commit, commit + "+dirty-abc123": commit,
		"": "", commit[1:]: "", commit + "+dirtyx": "", "--output=x": "", commit + "\n--output=x": "",
	} {
		if got := commitOf(rev); got != want {
			t.Errorf("commitOf(%q) = %q, want %q", rev, got, want)
		}
	}
}

func TestOrderOfCommits(t *testing.T) {
	t.Parallel()
	repo, commits := repository(t, 4)
	// The runs were made in the order of places; run 5 has an edited tree, 6 and 7 are from
	// elsewhere.
	places := []int{2, 0, 3, 1, 0}
	runs := recordtest.History(recordtest.HistorySpec{Runs: 8, Impls: stepAt(99, 0), Change: func(i int, r *record.Run) {
		switch {
		case i < len(places):
			r.Environment.Revision = commits[places[i]]
		case i == 5:
			r.Environment.Revision = commits[1] + "+dirty-abc123"
		case i == 6:
			r.Environment.Revision = "--output=/tmp/x"
		}
	}})
	h, err := Of(t.Context(), runs, Options{Repo: repo})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, r := range h.Runs {
		order = append(order, r.Name)
	}
	if got := strings.Join(order, " "); got != "run001 run004 run003 run005 run000 run002" || h.Order != "commit" {
		t.Errorf("%s, by %s", got, h.Order)
	}
	if text := strings.Join(h.Left, "\n"); len(h.Left) != 2 || !strings.Contains(text, "run006: its record has no commit") || !strings.Contains(text, "run007: commit 000000080000 is not in the repository") {
		t.Errorf("left out: %q", h.Left)
	}
	if _, err := Of(t.Context(), runs[6:], Options{Repo: repo}); err == nil || !strings.Contains(err.Error(), "order them by time") {
		t.Errorf("no run of a commit: %v", err)
	}
	if _, err := Of(t.Context(), runs, Options{Repo: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "--repo") {
		t.Errorf("no repository: %v", err)
	}
}
