// Command run judges the mechanical mutants; see package mechanical.
//
//	go run ./internal/mechanical/run                    # all packages
//	go run ./internal/mechanical/run core/impl/dense         # some
//	go run ./internal/mechanical/run -every 20          # a sample, of which nothing is kept
//	go run ./internal/mechanical/run -survivors         # what survived, once more
//	go run ./internal/mechanical/run -journal verdicts  # can be cut short, and goes on
//	go run ./internal/mechanical/run -excuse            # after a change of the ledger
//	go run ./internal/mechanical/run -efforts 0.02,0.2  # a quick first look at a slow package
//
// It ends with 1 if fewer than -least of the mutants that are not equivalent were killed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/internal/mechanical"
)

// flags are the command line's flags.
type flags struct {
	every             int
	least             float64
	function          string
	verbose           bool
	survivors, excuse bool
	journal           string
	efforts           efforts
}

// efforts is a list of numbers above 0.
type efforts []float64

func (e *efforts) String() string {
	texts := make([]string, len(*e))
	for i, effort := range *e {
		texts[i] = strconv.FormatFloat(effort, 'g', -1, 64)
	}
	return strings.Join(texts, ",")
}

func (e *efforts) Set(text string) error {
	var list efforts
	for one := range strings.SplitSeq(text, ",") {
		effort, err := strconv.ParseFloat(one, 64)
		if err != nil || !(effort > 0) {
			return fmt.Errorf("%q: want numbers above 0, such as 0.02,0.2", one)
		}
		list = append(list, effort)
	}
	*e = list
	return nil
}

func main() {
	f := flags{efforts: mechanical.DefaultRounds}
	flag.IntVar(&f.every, "every", 1, "judge every nth mutant")
	flag.Float64Var(&f.least, "least", 0.95, "share of the mutants that must be killed")
	flag.StringVar(&f.function, "function", "", "judge the mutants of one function only")
	flag.BoolVar(&f.verbose, "v", false, "print every verdict")
	flag.BoolVar(&f.survivors, "survivors", false, "judge again the survivors of the last whole run that have no reason")
	flag.BoolVar(&f.excuse, "excuse", false, "judge nothing: hold the survivors of the last whole run against the ledger")
	flag.StringVar(&f.journal, "journal", "", "`file` that keeps the verdicts: a run that was cut short goes on with it")
	flag.Var(&f.efforts, "efforts", "of the suites: a mutant that survives one meets the next")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ok, err := run(ctx, flag.Args(), f)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case !ok:
		os.Exit(1)
	}
}

func run(ctx context.Context, dirs []string, f flags) (ok bool, err error) {
	root, err := mechanical.Root()
	if err != nil {
		return false, err
	}
	ledger, err := mechanical.ReadLedger(filepath.Join(root, mechanical.LedgerFile))
	if err != nil {
		return false, err
	}
	targets := mechanical.Targets()
	if len(dirs) > 0 {
		targets = slices.DeleteFunc(targets, func(t mechanical.Target) bool { return !slices.Contains(dirs, t.Dir) })
		if len(targets) != len(dirs) {
			return false, fmt.Errorf("%v: want some of the packages of mechanical.Targets", dirs)
		}
	}
	ok = true
	for _, target := range targets {
		var good bool
		if f.survivors || f.excuse {
			good, err = again(ctx, root, target, ledger, f)
		} else {
			good, err = whole(ctx, root, target, ledger, f)
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", target.Dir, err)
		}
		ok = ok && good
	}
	return ok, mechanical.WritePage(root)
}

// whole judges all mutants of a package, or a sample whose results are not stored.
func whole(ctx context.Context, root string, target mechanical.Target, ledger []mechanical.Reason, f flags) (ok bool, err error) {
	var pick func(mechanical.Mutant) bool
	if f.every > 1 || f.function != "" {
		pick = func(m mechanical.Mutant) bool {
			return m.ID%f.every == 0 && (f.function == "" || m.Function == f.function)
		}
	}
	verdicts, err := judge(ctx, root, target, pick, f)
	if err != nil {
		return false, err
	}
	s := mechanical.Sort(target, verdicts, ledger)
	tell(target, s, pick == nil)
	if pick != nil {
		return s.Score() >= f.least, nil
	}
	return s.Score() >= f.least && len(s.Stale) == 0, mechanical.WriteResults(root, target, s)
}

// again judges the survivors of the last complete run again.
func again(ctx context.Context, root string, target mechanical.Target, ledger []mechanical.Reason, f flags) (ok bool, err error) {
	all, err := mechanical.ReadResults(root)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(all, func(r mechanical.Results) bool { return r.Package == target.Dir })
	if i < 0 {
		fmt.Printf("%s: not judged yet\n", target.Dir)
		return true, nil
	}
	excused, open := all[i].Survivors()
	if f.survivors {
		keys := map[string]bool{}
		for _, v := range open {
			keys[v.Key()] = true
		}
		if open, err = judge(ctx, root, target, func(m mechanical.Mutant) bool { return keys[m.Key()] }, f); err != nil {
			return false, err
		}
	}
	s := mechanical.Sort(target, slices.Concat(excused, open), ledger)
	fmt.Printf("%s: of the survivors %d are killed now, %d are equivalent and %d are open\n", target.Dir, len(s.Killed), len(s.Equivalent), len(s.Open))
	return len(s.Open) == 0, all[i].Merge(root, s)
}

func judge(ctx context.Context, root string, target mechanical.Target, pick func(mechanical.Mutant) bool, f flags) ([]mechanical.Verdict, error) {
	fmt.Printf("%s: building\n", target.Dir)
	var (
		begin  time.Time
		known  map[string]mechanical.Verdict
		keep   = func(mechanical.Verdict) error { return nil }
		unkept error
	)
	if f.journal != "" {
		j, err := mechanical.OpenJournal(f.journal)
		if err != nil {
			return nil, err
		}
		defer func() { _ = j.Close() }()
		known, keep = j.Known, j.Add
	}
	verdicts, err := mechanical.Run(ctx, root, target, mechanical.Options{Pick: pick, Known: known, Rounds: f.efforts, Begin: func(mutants int) {
		begin = time.Now()
		fmt.Printf("%s: %d mutants\n", target.Dir, mutants)
	}, Progress: func(done, of int, v mechanical.Verdict) {
		unkept = errors.Join(unkept, keep(v))
		left := time.Duration(float64(time.Since(begin)) / float64(done) * float64(of-done)).Round(time.Second)
		if f.verbose || v.Clause == "" {
			fmt.Printf("%4d of %d, %s left: %s: %s %s\n", done, of, left, v.Mutant, outcome(v), v.How)
		} else if done%50 == 0 {
			fmt.Printf("%4d of %d, %s left\n", done, of, left)
		}
	}})
	if err = errors.Join(err, unkept); err != nil {
		return nil, fmt.Errorf("after %d mutants: %w", len(verdicts), err)
	}
	return verdicts, nil
}

// tell prints the score and the outdated reasons. A sample of the mutants does not show
// which reasons are outdated.
func tell(target mechanical.Target, s mechanical.Sorted, whole bool) {
	fmt.Printf("%s: %d killed, %d equivalent, %d open: %.1f percent\n", target.Dir, len(s.Killed), len(s.Equivalent), len(s.Open), 100*s.Score())
	if !whole {
		return
	}
	for _, r := range s.Needless {
		fmt.Printf("a reason in the ledger whose mutants are killed: %s %s: %s\n", r.Package, r.Function, r.Source)
	}
	for _, r := range s.Stale {
		fmt.Printf("a stale reason in the ledger, for no mutant: %s %s: %s\n", r.Package, r.Function, r.Source)
	}
}

func outcome(v mechanical.Verdict) string {
	switch {
	case v.Clause != "":
		return "killed by " + v.Clause
	case !v.Reached:
		return "survived; no case comes here"
	}
	return "survived"
}
