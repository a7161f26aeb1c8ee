package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// noArgs is cobra's check with the exit status of wrong usage.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		if cmd.HasSubCommands() {
			return usagef("unknown command %q%s", args[0], didYouMean(cmd, args[0]))
		}
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}

func someArgs(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("missing argument: %s", what)
		}
		return nil
	}
}

func oneArg(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("expected one argument, %s, got %d", what, len(args))
		}
		return nil
	}
}

// didYouMean returns the commands whose names are like an unknown one, as the end of a sentence; ""
// if there is none.
func didYouMean(cmd *cobra.Command, name string) string {
	cmd.SuggestionsMinimumDistance = 2
	like := cmd.SuggestionsFor(name)
	if len(like) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(like, " or ") + "?"
}
