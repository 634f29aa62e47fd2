// Package suite is the machinery that the conformance packages share: a case is written
// once, and runs either as a subtest (Run) or without testing.T (Check).
//
// A case belongs to one clause of package contract. It gets a [T], which has the methods of
// testing.T that cases need and satisfies rapid.TB, so random histories run inside either
// front end. A case fails if it panics, waits for ever (on a lock left held, for example)
// or loops for ever. The failure names its clause and prints the stacks of its goroutines,
// and the next case runs. [Guard] describes how it tells a hang from a slow machine.
//
// Cost: a case runs on one goroutine of its own. A case that hangs leaves its goroutines
// behind, because Go has no way to end them. After three such cases the rest fail without being
// run, so that a suite ends before go test's own timeout does. Nor is a case run whose clause has
// failed in another case that took a second or more and ended.
//
// A message against another clause than the case's own names it in brackets, as in "List (STORE-4)
// gave ...". If that clause has failed too, the case fails in one line.
package suite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/contract"
)

// Case is one check of one clause against an implementation that F constructs.
type Case[F any] struct {
	Clause string // number of the clause, such as "STORE-7"
	Name   string // the scenario, in kebab case; unique within the clause
	Why    string // what goes wrong in the field when this is broken; printed on failure
	Run    func(t *T, newImpl F)
}

// Outcome is how a case ended.
type Outcome string

// The outcomes of a case.
const (
	Pass   Outcome = "pass"
	Fail   Outcome = "fail"
	Skip   Outcome = "skip"   // the case does not apply to the implementation; Reason says why
	Waived Outcome = "waived" // an option waived the clause; Reason says why
)

// Result is the result of one case.
type Result struct {
	Clause  contract.Clause
	Case    string
	Outcome Outcome
	Reason  string // the failure's text, or why the case was skipped or waived
	Cause   string // the clause to mend first, if its failure explains this one; Reason is a line then
	Note    string // the lines of T.Notef, whatever the outcome
	Seed    uint64 // WithSeed(Seed) repeats the case's random choices, at the same Effort
	Effort  float64
	Elapsed time.Duration
}

// Failure is the error of one failed case.
type Failure struct{ Result }

// Error names the clause, the case, the failure, the seed, and the options that repeat it.
func (f *Failure) Error() string {
	if f.Cause != "" {
		return fmt.Sprintf("%s [%s]: %s", f.Clause.ID, f.Case, f.Reason)
	}
	effort := ""
	if f.Effort != 1 {
		effort = fmt.Sprintf(", suite.WithEffort(%v)", f.Effort)
	}
	return fmt.Sprintf("%s [%s, seed %d]\n%s\n\tto repeat it: suite.Only(%q), suite.WithSeed(%d)%s",
		f.Clause, f.Case, f.Seed, indent(f.Reason), f.Clause.ID, f.Seed, effort)
}

// Config holds what options change in every suite, and the settings of each suite's own
// (see [Setting]). Its zero value is the default.
type Config struct {
	// Waived maps the number of a clause to the reason for not testing it.
	Waived map[string]string
	// Seed repeats the random choices of an earlier run; 0 takes the seed of the process.
	Seed uint64
	// CaseTimeout bounds the time of a case; 0 means a minute, times Effort if that is above 1.
	// The suite gives up a case that makes no progress for a tenth of it, six seconds by default.
	// Guard counts both
	// so that a busy machine does not fail a healthy implementation.
	CaseTimeout time.Duration
	// Effort scales the number of random histories and the length of stress runs; 0 means 1, and
	// 0.1 under go test -short.
	Effort float64
	// Observe is called with each result as it comes, from one goroutine.
	Observe func(Result)
	// Only restricts the run to these clauses; empty means all.
	Only []string
	// Context ends a Check between two cases when it is done; nil means never.
	Context context.Context

	notation     *regexp.Regexp
	legend       string
	own          map[reflect.Type]any // by the type of a suite's settings: a pointer to them
	wrongOptions []error
}

// Setting is an option that changes a suite's own settings. S is a type of the suite's
// package, so no other suite sees them.
func Setting[S any](change func(s *S)) Option {
	return func(c *Config) {
		if c.own == nil {
			c.own = map[reflect.Type]any{}
		}
		kind := reflect.TypeFor[S]()
		if c.own[kind] == nil {
			c.own[kind] = new(S)
		}
		change(c.own[kind].(*S))
	}
}

// Settings returns the settings of type S that options have made; the zero value if there
// were none.
func Settings[S any](c Config) (s S) {
	if own, ok := c.own[reflect.TypeFor[S]()]; ok {
		return *own.(*S)
	}
	return s
}

// Legend explains a suite's notation, below the first failure in which it is found.
func Legend(notation *regexp.Regexp, text string) Option {
	return func(c *Config) { c.notation, c.legend = notation, text }
}

// Refuse makes NewConfig return err. An option calls it if its argument makes no sense.
func (c *Config) Refuse(err error) { c.wrongOptions = append(c.wrongOptions, err) }

// Option changes a suite's Config.
type Option func(*Config)

// Waive leaves out a clause; the reason is printed wherever the result is.
func Waive(clause, reason string) Option {
	return func(c *Config) {
		if _, err := contract.LookupClause(clause); err != nil {
			c.wrongOptions = append(c.wrongOptions, fmt.Errorf("Waive: %w", err))
			return
		}
		if reason == "" {
			c.wrongOptions = append(c.wrongOptions,
				fmt.Errorf("Waive(%s): give the reason, it is printed with every result", clause))
			return
		}
		if c.Waived == nil {
			c.Waived = map[string]string{}
		}
		c.Waived[clause] = reason
	}
}

// WithSeed repeats the random choices of the run that printed seed.
func WithSeed(seed uint64) Option { return func(c *Config) { c.Seed = seed } }

// WithEffort scales the random and stress cases: 0.1 for a quick look, 10 for a night.
func WithEffort(factor float64) Option { return func(c *Config) { c.Effort = factor } }

// WithContext makes Check end when ctx is done, after the case that is running. Its error then
// wraps context.Cause(ctx). Run ignores ctx.
func WithContext(ctx context.Context) Option { return func(c *Config) { c.Context = ctx } }

// WithObserver calls f with each result as it comes.
func WithObserver(f func(Result)) Option { return func(c *Config) { c.Observe = f } }

// WithCaseTimeout bounds the time of one case and of its calls that do not return; see
// Config.CaseTimeout.
func WithCaseTimeout(d time.Duration) Option { return func(c *Config) { c.CaseTimeout = d } }

// Only restricts the run to the given clauses. If no case tests them, Run skips the test, and Check
// returns nil: WithObserver tells whether a case was run.
func Only(clauses ...string) Option {
	return func(c *Config) {
		for _, id := range clauses {
			if _, err := contract.LookupClause(id); err != nil {
				c.wrongOptions = append(c.wrongOptions, fmt.Errorf("Only: %w", err))
			}
		}
		c.Only = append(c.Only, clauses...)
	}
}

// processSeed is the seed of every run without WithSeed, so one number repeats what a process did.
var processSeed = rand.Uint64N(1<<53-1) + 1

// patience is how long a case may go without progress.
func (c Config) patience() time.Duration { return c.CaseTimeout / 10 }

// mostEffort is the greatest effort: no sum of two times of a case, which it lengthens, overflows a
// time.Duration.
const mostEffort = 1e6

// NewConfig applies the options. The error lists every option that is wrong.
func NewConfig(opts []Option) (Config, error) {
	c := Config{}
	for _, o := range opts {
		o(&c)
	}
	if c.Seed == 0 {
		c.Seed = processSeed
	}
	if !(c.Effort >= 0 && c.Effort <= mostEffort) { // nor NaN
		c.Refuse(fmt.Errorf("WithEffort(%v): want a number from 0 to %d; 0 means the default", c.Effort,
			int(mostEffort)))
	}
	if c.CaseTimeout < 0 {
		c.Refuse(fmt.Errorf("WithCaseTimeout(%s): want a time above zero, or 0 for the default",
			c.CaseTimeout))
	}
	if err := errors.Join(c.wrongOptions...); err != nil {
		return c, err
	}
	if c.Effort == 0 {
		c.Effort = 1
		if testing.Testing() && flag.Parsed() && testing.Short() {
			c.Effort = 0.1
		}
	}
	if c.CaseTimeout == 0 {
		// Ten times the work may take ten times as long, between two steps as well.
		c.CaseTimeout = time.Duration(float64(time.Minute) * max(c.Effort, 1))
	}
	return c, nil
}

// Check runs the cases and returns nil or an error that joins a *Failure per
// failed case. newImpl constructs what is tested.
func Check[F any](cases []Case[F], newImpl F, opts ...Option) error {
	r, err := newRunner(cases, newImpl, opts)
	if err != nil {
		return err
	}
	var failures []error
	for i, c := range cases {
		if !r.cfg.wants(c.Clause) {
			continue
		}
		if ctx := r.cfg.Context; ctx != nil && ctx.Err() != nil {
			failures = append(failures, context.Cause(ctx))
			break
		}
		if result := r.run(i, c); result.Outcome == Fail {
			failures = append(failures, &Failure{result})
		}
	}
	return errors.Join(append(failures, r.summary()...)...)
}

// UntilCaught repeats check, at most 30 times, until it returns an error. It is for tests
// that a suite catches a mistake that only some schedules of the goroutines or some random
// choices show. One run may miss such a mistake, and that is no fault of the suite. The
// option that check gets sets the effort and a new seed. The effort doubles each time, up to 1; 0
// is the suites' default. Seeds are 1<<20 apart, because informertest's histories use the seeds
// that follow a run's own.
func UntilCaught(effort float64, check func(attempt Option) error) (err error) {
	for i := range uint64(30) {
		attempt := func(c *Config) { c.Seed, c.Effort = processSeed+i<<20, effort }
		if err = check(attempt); err != nil {
			break
		}
		effort = min(1, 2*effort)
	}
	return err
}

// Run runs the cases as subtests named clause/case.
func Run[F any](t *testing.T, cases []Case[F], newImpl F, opts ...Option) {
	t.Helper()
	RunAround(t, nil, cases, newImpl, opts...)
}

// RunAround is Run with around, if not nil, around each case: queuetest passes InBubble, which
// makes time virtual.
func RunAround[F any](t *testing.T, around Around, cases []Case[F], newImpl F, opts ...Option) {
	t.Helper()
	r, err := newRunner(cases, newImpl, opts)
	if err != nil {
		t.Fatal(err)
	}
	r.around = around
	if !slices.ContainsFunc(cases, func(c Case[F]) bool { return r.cfg.wants(c.Clause) }) {
		t.Skipf("no case of this suite tests %s", strings.Join(r.cfg.Only, ", "))
	}
	for i, c := range cases {
		if !r.cfg.wants(c.Clause) {
			continue
		}
		t.Run(c.Clause+"/"+c.Name, func(t *testing.T) {
			result := r.run(i, c)
			if result.Note != "" {
				t.Log(result.Note)
			}
			switch result.Outcome {
			case Fail:
				t.Error((&Failure{result}).Error())
			case Skip, Waived:
				t.Skipf("%s: %s: %s", result.Clause.ID, result.Outcome, result.Reason)
			}
		})
	}
	for _, line := range r.summary() {
		t.Error(line)
	}
}

// runner runs the cases of one Run or Check, one after the other.
type runner[F any] struct {
	newImpl F
	cfg     Config
	around  Around
	// stuck are the cases so far that have a call that does not return. Each takes seconds until it
	// is given up, and its goroutines may hold a processor from then on. A suite of a hundred such
	// cases would end in the timeout of go test, which loses the other failures.
	stuck []string
	// failed has, by clause, the failed case that took longest; what shares its failure is not here.
	failed map[string]Result
	shared map[string]int // by clause, how many cases share its failure
}

// mostStuck is how many cases may be stuck before the others are not run.
const mostStuck = 3

func newRunner[F any](cases []Case[F], newImpl F, opts []Option) (*runner[F], error) {
	cfg, err := NewConfig(opts)
	if err == nil {
		err = foreign(cases, cfg)
	}
	return &runner[F]{newImpl: newImpl, cfg: cfg, failed: map[string]Result{},
		shared: map[string]int{}}, err
}

// summary says how many failures the mending of each clause may spare.
func (r *runner[F]) summary() (lines []error) {
	for _, clause := range slices.Sorted(maps.Keys(r.shared)) {
		lines = append(lines, fmt.Errorf("mend %s first: failures that may go with it: %d", clause,
			r.shared[clause]))
	}
	return lines
}

// otherClause matches the clause that a message is against.
var otherClause = regexp.MustCompile(`\(([A-Z]+-\d+)\)`)

// settle notes a failure, in one line if that of another case explains it.
func (r *runner[F]) settle(result *Result) {
	if other := otherClause.FindStringSubmatch(result.Reason); other != nil && result.Cause == "" {
		if first, failed := r.failed[other[1]]; failed && first.Clause != result.Clause {
			result.Cause = other[1]
			result.Reason = fmt.Sprintf("fails as %s/%s does", other[1], first.Case)
		}
	}
	switch {
	case result.Cause != "":
		r.shared[result.Cause]++
		return
	case r.cfg.notation != nil && r.cfg.notation.MatchString(result.Reason):
		result.Reason += "\n" + r.cfg.legend
		r.cfg.notation = nil
	}
	if result.Elapsed >= r.failed[result.Clause.ID].Elapsed {
		r.failed[result.Clause.ID] = *result
	}
}

// run runs case number i, unless its clause is waived or too many cases are stuck, and reports
// the result.
func (r *runner[F]) run(i int, c Case[F]) Result {
	clause, err := contract.LookupClause(c.Clause)
	result := Result{Clause: clause, Case: c.Name, Seed: r.cfg.Seed, Effort: r.cfg.Effort}
	slow := r.failed[c.Clause]
	switch reason, waived := r.cfg.Waived[c.Clause]; {
	case err != nil:
		result.Outcome, result.Reason = Fail, fmt.Sprintf("case %d: %v", i, err)
	case waived:
		result.Outcome, result.Reason = Waived, reason
	case len(r.stuck) >= mostStuck:
		result.Outcome, result.Reason = Fail, fmt.Sprintf(
			"not run, because calls of %s do not return; mend them first, or run this clause alone",
			strings.Join(r.stuck, ", "))
		result.Cause, _, _ = strings.Cut(r.stuck[0], "/")
	case slow.Elapsed >= r.cfg.patience()/6 && !slices.Contains(r.stuck, c.Clause+"/"+slow.Case):
		result.Outcome, result.Cause = Fail, c.Clause
		result.Reason = fmt.Sprintf("not run, because %s took %.1f s to fail", slow.Case,
			slow.Elapsed.Seconds())
	default:
		r.execute(c, &result)
	}
	if result.Outcome == Fail {
		r.settle(&result)
	}
	if r.cfg.Observe != nil {
		r.cfg.Observe(result)
	}
	return result
}

// Around runs f, the body of a case, in an environment that it sets up.
type Around func(t *T, f func())

// InBubble runs each case in a testing/synctest bubble. A panic, a deadlock of the bubble
// and a goroutine that is left behind each fail the case.
func InBubble(t *T, f func()) {
	failed, left := Bubble(f)
	switch {
	case failed != "":
		t.Errorf("%s", failed)
	case left != "":
		t.Errorf("goroutines are left behind:\n%s", left)
	}
}

// wants reports whether the clause is among those asked for.
func (c Config) wants(clause string) bool {
	return len(c.Only) == 0 || slices.Contains(c.Only, clause)
}

// foreign returns an error if options name clauses of other components than the cases': a
// clause that is left out there, or alone asked for, is a mistake.
func foreign[F any](cases []Case[F], cfg Config) error {
	components := map[contract.Component]bool{}
	for _, c := range cases {
		if clause, err := contract.LookupClause(c.Clause); err == nil {
			components[clause.Component] = true
		}
	}
	var wrong []error
	refuse := func(option string, clauses []string) {
		for _, id := range clauses {
			if clause, err := contract.LookupClause(id); err == nil && !components[clause.Component] {
				wrong = append(wrong, fmt.Errorf("%s(%q): this suite has no clause of the component %s", option,
					id, clause.Component))
			}
		}
	}
	refuse("Only", cfg.Only)
	refuse("Waive", slices.Sorted(maps.Keys(cfg.Waived)))
	return errors.Join(wrong...)
}

// execute runs one case on a goroutine of its own and waits until it ends or stalls;
// see Guard.
func (r *runner[F]) execute(c Case[F], result *Result) {
	start := time.Now()
	t := newT(c.Clause+"/"+c.Name, r.cfg)
	around := r.around
	if around == nil {
		around = func(_ *T, f func()) { f() }
	}
	stall := Guard(r.cfg.patience(), r.cfg.CaseTimeout, func(w *Watch) {
		t.watch = w
		defer t.recoverPanic()
		around(t, func() {
			defer t.runCleanups()
			defer t.recoverPanic()
			c.Run(t, r.newImpl)
		})
	})
	if stall != nil {
		t.write(stall.String())
		t.setFailed() // the case's goroutine may still run, and have set its watch
		if !stall.Returned {
			r.stuck = append(r.stuck, t.name)
		}
	}
	result.Elapsed = time.Since(start)
	result.Note = t.note()
	switch failed, skipped, text := t.verdict(); {
	case failed:
		result.Outcome, result.Reason = Fail, strings.TrimSpace(text)
		if c.Why != "" {
			result.Reason += "\nwhy it matters: " + c.Why
		}
	case skipped:
		result.Outcome, result.Reason = Skip, strings.TrimSpace(text)
	default:
		result.Outcome = Pass
	}
}

func indent(s string) string { return "\t" + strings.ReplaceAll(s, "\n", "\n\t") }
