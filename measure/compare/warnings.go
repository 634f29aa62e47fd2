package compare

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure/record"
)

// RunWarnings returns the warnings that taint every number of a run.
func RunWarnings(r *record.Run) []string {
	warnings := slices.Concat(Taints(r), r.Environment.Warnings())
	if text, _ := Disturbance(r); text != "" {
		warnings = slices.Insert(slices.DeleteFunc(warnings, func(w string) bool {
			return strings.HasPrefix(w, "other processes used ")
		}), 0, text)
	}
	return warnings
}

// disturbing is the share of the processors' time, in percent, from which others make a run a
// disturbed one. It is far above sysinfo.DisturbedPercent, which taints single forks.
const disturbing = 20

// Disturbance says that others took a large part of the processors during a run, "" if they did
// not. factor is by how much that alone can change a time or a rate: 2 if they took half.
func Disturbance(r *record.Run) (text string, factor float64) {
	e := r.Environment
	took := min(99, e.OthersMedian+e.StealPercent)
	if took < disturbing {
		return "", 1
	}
	factor = 100 / (100 - took)
	return fmt.Sprintf("DISTURBED: others took %.0f%% of the processors' time in the median process, "+
		"%.0f%% at most. Measure again on an idle machine. No gain below a factor of %.2g counts here, "+
		"memory aside: the disturbance could explain it.", took, max(took, e.OthersMax), factor), factor
}

// Taints are the RunWarnings that come from the run itself, not from the machine.
func Taints(r *record.Run) []string {
	var out []string
	if !r.Complete {
		next := "benchrun run --resume with its folder goes on"
		if r.Settings.Pair {
			next = "a pair cannot be resumed: measure it again"
		}
		out = append(out, fmt.Sprintf("interrupted: %d forks were measured; %s", len(r.Forks), next))
	}
	if s := r.Settings.Shard; s != nil {
		out = append(out, fmt.Sprintf(
			"shard %s of a run: it has a part of the forks; benchrun merge joins the shards", s))
	}
	if r.Settings.SkipVerify {
		out = append(out, "not verified (--skip-verify): a number may be that of a broken implementation")
	}
	if p := r.Settings.Plant; p != nil && p.Share > 0 {
		out = append(out, fmt.Sprintf(
			"planted: the store %s is %g%% slower than it is, on purpose (--plant)", p.Impl, 100*p.Share))
	}
	for _, c := range r.Checks {
		if !c.Passed {
			out = append(out, fmt.Sprintf("a check failed: %s: %s", c.Name, c.Detail))
		}
	}
	return slices.Concat(out, r.Warnings)
}

var anyNumber = regexp.MustCompile(`\d+(\.\d+)?`)

// counted lists each warning once, with the number of forks that have it. Warnings that
// differ in numbers only count as one, in the words of the first.
func counted(forks [][]string) []string {
	kind := func(w string) string { return anyNumber.ReplaceAllString(w, "#") }
	var first []string
	times := map[string]int{}
	for _, warnings := range forks {
		for _, w := range warnings {
			if times[kind(w)]++; times[kind(w)] == 1 {
				first = append(first, w)
			}
		}
	}
	for i, w := range first {
		first[i] = fmt.Sprintf("%s (%d of %d forks)", strings.TrimSuffix(w, "."), times[kind(w)],
			len(forks))
	}
	return first
}
