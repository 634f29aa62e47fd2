package benchcmd

// What is checked of every command line before the command looks at it: the number of
// arguments, and flags that are given and empty.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/presets"
)

// noArgs refuses arguments, and names the flag that was meant where there is one.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	next := "see " + cmd.CommandPath() + " --help"
	if flag := meant(args[0]); flag != "" && cmd.Flags().Lookup(flag) != nil {
		next = fmt.Sprintf("did you mean --%s %s?", flag, args[0])
	}
	return fmt.Errorf("%s takes no arguments, and %q is one: %s", cmd.CommandPath(), args[0], next)
}

// meant is the flag that takes a word: a preset, a component or an implementation; "" for
// other words.
func meant(word string) string {
	switch _, err := presets.Lookup(word); {
	case err == nil:
		return "preset"
	case slices.Contains(catalog.Components(), contract.Component(word)):
		return "component"
	case slices.ContainsFunc(catalog.All(), func(e catalog.Entry) bool { return e.Name == word }):
		return "impl"
	}
	return ""
}

// needs wants from least to most arguments, which what describes.
func needs(what string, least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= most {
			return nil
		}
		return fmt.Errorf("%s wants %s, and got %d: see %s --help", cmd.CommandPath(), what, len(args),
			cmd.CommandPath())
	}
}

// refuseEmpty refuses a flag that is given and empty, as one is whose variable in a script is
// not set. It must not pass for a flag that is not given.
func refuseEmpty(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, isList := f.Value.(pflag.SliceValue)
		empty := f.Value.Type() == "string" && strings.TrimSpace(f.Value.String()) == "" ||
			isList && !slices.ContainsFunc(list.GetSlice(), func(s string) bool {
				return strings.TrimSpace(s) != ""
			})
		if err == nil && empty {
			err = fmt.Errorf("--%s is given and empty: give it a value, or leave it out", f.Name)
		}
	})
	return err
}
