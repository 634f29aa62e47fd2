package benchcmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/presets"
)

// What the shell offers for the values of flags (benchrun completion bash --help says how to
// have it).

// complete offers values for a flag that takes one or several, with commas in between. values
// are asked when the shell asks, with the flags that the line has so far.
func complete(cmd *cobra.Command, flag string, values func(*cobra.Command) []cobra.Completion) {
	offer := func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion,
		cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		var out []cobra.Completion
		for _, v := range values(cmd) {
			out = append(out, before+v)
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, offer); err != nil {
		panic(err) // the command lacks the flag
	}
}

func presetNames(*cobra.Command) (out []cobra.Completion) {
	for _, p := range presets.All() {
		out = append(out, cobra.CompletionWithDesc(p.Name, p.Description))
	}
	return out
}

func componentNames(*cobra.Command) (out []cobra.Completion) {
	for _, c := range catalog.Components() {
		out = append(out, string(c))
	}
	return out
}

// implementationNames are those of the components that the line has.
func implementationNames(cmd *cobra.Command) (out []cobra.Completion) {
	components, _ := cmd.Flags().GetStringSlice("component") // none if the command lacks the flag
	for _, e := range catalog.All() {
		if len(components) == 0 || slices.Contains(components, string(e.Component)) {
			out = append(out, cobra.CompletionWithDesc(e.Name, string(e.Component)+": "+e.Description))
		}
	}
	return out
}

func clauseNames(*cobra.Command) (out []cobra.Completion) {
	for _, c := range contract.Clauses() {
		out = append(out, cobra.CompletionWithDesc(c.ID, c.Rule))
	}
	return out
}
