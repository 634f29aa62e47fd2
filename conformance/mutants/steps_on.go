//go:build explore

package mutants

import "github.com/informerbench/informerbench/conformance/linear"

func steps(s base) base { return linear.Stepped(s) }
