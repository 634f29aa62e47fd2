package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// A revision is a commit, with "+dirty" where the code differed from it, and mostly a hash of
// the difference.
var revision = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})(\+dirty(-[0-9a-f]+)*)?$`)

// commitOf returns the commit of a revision, "" if that is something else. Only its result may
// be given to git: a record may come from anybody.
func commitOf(rev string) string {
	if m := revision.FindStringSubmatch(rev); m != nil {
		return m[1]
	}
	return ""
}

// commitOrder returns the place of each commit in the order of git log --topo-order, oldest
// first. Commits that the repository lacks have none. It walks the history once.
func commitOrder(ctx context.Context, repo string, commits []string) (map[string]int, error) {
	git := func(input []string, args ...string) ([]string, error) {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", repo}, args...)...)
		cmd.Stdin = strings.NewReader(strings.Join(input, "\n") + "\n")
		out, err := cmd.Output()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("git %s in %s: %s; name the project's work tree by --repo, or order the runs by time", args[0], repo, bytes.TrimSpace(exit.Stderr))
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n"), err
	}
	kinds, err := git(commits, "cat-file", "--batch-check")
	if err != nil {
		return nil, err
	}
	wanted, have := map[string]bool{}, []string(nil)
	for _, line := range kinds {
		if f := strings.Fields(line); len(f) == 3 && f[1] == "commit" && !wanted[f[0]] {
			wanted[f[0]] = true
			have = append(have, f[0])
		}
	}
	at := map[string]int{}
	if len(have) == 0 {
		return at, nil
	}
	order, err := git(have, "rev-list", "--topo-order", "--reverse", "--stdin")
	if err != nil {
		return nil, err
	}
	for i, id := range order {
		if wanted[id] {
			at[id] = i
		}
	}
	return at, nil
}
