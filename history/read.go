package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure/record"
)

// ErrNoRuns is wrapped by the error about a folder without a readable run.
var ErrNoRuns = errors.New("no runs")

// Read follows the runs in a folder and the folders below it. A run that cannot be read is left
// out and named in Left; the error is about the folder, the options or git.
func Read(ctx context.Context, folder string, o Options) (*History, error) {
	var dirs, unreadable []string
	root, err := filepath.EvalSymlinks(folder) // WalkDir follows no link
	if err != nil {
		root = folder
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil && path != root && entry != nil && entry.IsDir() {
			unreadable = append(unreadable, err.Error())
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		if !entry.IsDir() && entry.Name() == record.RunFile {
			dirs = append(dirs, filepath.Dir(path))
		}
		return ctx.Err()
	})
	if errors.Is(err, fs.ErrNotExist) {
		if _, missing := os.Stat(folder); missing != nil {
			return nil, fmt.Errorf("%w; give a folder of runs, such as results/", missing)
		}
	}
	if err != nil {
		return nil, err
	}
	c, err := newCollector(folder, o)
	if err != nil {
		return nil, err
	}
	c.h.Left = append(c.h.Left, unreadable...)
	for _, dir := range dirs {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		within, err := filepath.Rel(root, dir)
		if err != nil {
			within = dir
		}
		within = filepath.ToSlash(within)
		r, err := record.ReadRun(dir)
		if err != nil {
			c.h.Left = append(c.h.Left, fmt.Sprintf("%s: %v", within, err))
			continue
		}
		c.add(within, r)
	}
	if len(c.runs) == 0 {
		return nil, fmt.Errorf("%s: %w that can be read%s; benchrun run makes some under results/", folder, ErrNoRuns, because(c.h.Left))
	}
	return c.finish(ctx)
}

func because(left []string) string {
	if len(left) == 0 {
		return ""
	}
	return " (" + strings.Join(left[:min(3, len(left))], "; ") + ")"
}

// Of follows runs that were read already; they are named by their Name.
func Of(ctx context.Context, runs []*record.Run, o Options) (*History, error) {
	c, err := newCollector("", o)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		c.add(r.Name, r)
	}
	if len(c.runs) == 0 {
		return nil, ErrNoRuns
	}
	return c.finish(ctx)
}

// finish orders the runs and looks for changes.
func (c *collector) finish(ctx context.Context) (*History, error) {
	if err := c.unmatched(); err != nil {
		return nil, err
	}
	byTime := func(a, b *found) int {
		if d := a.Started.Compare(b.Started); d != 0 {
			return d
		}
		return strings.Compare(a.Path, b.Path)
	}
	slices.SortStableFunc(c.runs, byTime)
	if c.o.Repo != "" {
		if err := c.byCommit(ctx); err != nil {
			return nil, err
		}
	}
	for i, r := range c.runs {
		c.h.Runs = append(c.h.Runs, r.Run)
		c.h.Machines[r.Machine].Runs++
		for s, p := range r.points {
			p.Run = i
			s.Points = append(s.Points, p)
		}
	}
	c.h.Series = slices.DeleteFunc(c.h.Series, func(s *Series) bool { return len(s.Points) == 0 })
	c.label()
	c.h.judge()
	return c.h, nil
}

// byCommit orders the runs as git log does, oldest commit first; runs of one commit stay in
// the order of time.
func (c *collector) byCommit(ctx context.Context) error {
	var commits []string
	for _, r := range c.runs {
		if id := commitOf(r.Revision); id != "" {
			commits = append(commits, id)
		}
	}
	at, err := commitOrder(ctx, c.o.Repo, commits)
	if err != nil {
		return err
	}
	c.h.Order = "commit"
	c.runs = slices.DeleteFunc(c.runs, func(r *found) bool {
		id := commitOf(r.Revision)
		_, known := at[id]
		switch {
		case id == "":
			c.h.Left = append(c.h.Left, r.Path+": its record has no commit, so it has no place in the order of commits")
		case !known:
			c.h.Left = append(c.h.Left, fmt.Sprintf("%s: commit %.12s is not in the repository of %s", r.Path, id, c.o.Repo))
		}
		return !known
	})
	if len(c.runs) == 0 {
		return fmt.Errorf("%w of a commit of %s; order them by time", ErrNoRuns, c.o.Repo)
	}
	slices.SortStableFunc(c.runs, func(a, b *found) int { return at[commitOf(a.Revision)] - at[commitOf(b.Revision)] })
	return nil
}
