package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// NoArgs returns wrong usage if there is an argument.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		if cmd.HasSubCommands() {
			similar := DidYouMean(cmd, args[0])
			if similar == "" {
				var names []string
				for _, c := range cmd.Commands() {
					if c.IsAvailableCommand() {
						names = append(names, c.Name())
					}
				}
				similar = "; there are " + strings.Join(names, ", ")
			}
			return Usagef("unknown command %q%s", args[0], similar)
		}
		return Usagef("unexpected argument %q", args[0])
	}
	return nil
}

// SomeArgs returns a check that requires at least one argument. The error has its name.
func SomeArgs(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usagef("missing argument: %s", name)
		}
		return nil
	}
}

// OneArg returns a check that requires exactly one argument. The error has its name, what.
func OneArg(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return Usagef("expected one argument, %s, got %d", what, len(args))
		}
		return nil
	}
}

// DidYouMean returns the commands with names similar to an unknown one, as the end of a sentence. It returns "" if
// there is none.
func DidYouMean(cmd *cobra.Command, name string) string {
	cmd.SuggestionsMinimumDistance = 2
	names := cmd.SuggestionsFor(name)
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// DidYouMeanFlag is DidYouMean for the flags of a command. Cobra suggests commands by the same rule.
func DidYouMeanFlag(cmd *cobra.Command, name string) string {
	candidates := &cobra.Command{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		candidates.AddCommand(&cobra.Command{Use: "--" + f.Name, Run: func(*cobra.Command, []string) {}})
	})
	return DidYouMean(candidates, name)
}
