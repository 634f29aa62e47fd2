// Command judge runs the conformance suites of the catalog over one mutant; package
// mechanical builds it over the rewritten package and reads what it prints:
//
//	case <entry> <clause>            the cases of a clause begin
//	reached <entry> <clause> <nanoseconds> <ids>   they passed; only while tracing
//	killed <entry> <clause> <case>: <first line of the failure>
//	survived
//
// A process that ends in any other way was killed by the last case that began.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/informerbench/informerbench/catalog"
	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/internal/mechanical/active"
)

func main() {
	effort := flag.Float64("effort", 0.02, "of the suites")
	timeout := flag.Duration("timeout", 20*time.Second, "of one case; a tenth of it without progress ends it")
	seed := flag.Uint64("seed", 1, "of the suites")
	memory := flag.Uint64("memory", 2<<30, "`bytes` that the process may use")
	flag.Parse()
	if err := limitMemory(*memory); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	trace := os.Getenv(active.Env) == "trace"
	for _, arg := range flag.Args() {
		id, clause, ok := strings.Cut(arg, "=")
		component, name, ok2 := strings.Cut(id, "/")
		entry, err := catalog.Lookup(contract.Component(component), name)
		if !ok || !ok2 || err != nil {
			fmt.Fprintf(os.Stderr, "%q is no component/name=CLAUSE of the catalog: %v\n", arg, err)
			os.Exit(2)
		}
		fmt.Println("case", id, clause)
		active.TakeReached()
		begin := time.Now()
		err = catalog.Verify(entry, suite.Only(clause), suite.WithEffort(*effort), suite.WithCaseTimeout(*timeout), suite.WithSeed(*seed),
			linear.WithDrawings(os.TempDir()), suite.WithObserver(func(r suite.Result) {
				if r.Outcome == suite.Fail {
					first, _, _ := strings.Cut(r.Reason, "\n")
					fmt.Printf("killed %s %s %s: %s\n", id, clause, r.Case, first)
					os.Exit(0)
				}
			}))
		if _, failed := errors.AsType[*suite.Failure](err); err != nil && !failed {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		if trace {
			fmt.Println("reached", id, clause, time.Since(begin).Nanoseconds(), strings.Trim(fmt.Sprint(active.TakeReached()), "[]"))
		}
	}
	fmt.Println("survived")
}
