package cli

import (
	"iter"
	"maps"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// prefix begins the name of each variable.
const prefix = "NDD_"

// otherVariables are the variables without a flag. They belong to the clients in 'ndd help crawler', and to the tests
// of kernels.
var otherVariables = map[string]bool{"NDD_SERVER": true, "NDD_TOKEN": true, "NDD_REQUIRE_KERNEL": true}

// variable returns the name of the variable that sets a flag.
func variable(flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment sets the flags that were not given from NDD_* variables.
func fromEnvironment(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		name := variable(f.Name)
		value, ok := os.LookupEnv(name)
		if !ok || f.Changed || err != nil || f.Name == "help" {
			return
		}
		if e := flags.Set(f.Name, value); e != nil {
			err = Usagef("environment variable %s: %w", name, ValueError(e))
		}
	})
	return err
}

// misspelledVariables yields the environment variables with a name similar to the variable of a flag of any command,
// and that variable. Other names may belong to other programs.
func misspelledVariables(cmd *cobra.Command) iter.Seq2[string, string] {
	known := maps.Clone(otherVariables)
	knownFlags(cmd.Root(), known)
	return func(yield func(name, similar string) bool) {
		for _, pair := range os.Environ() {
			name, value, _ := strings.Cut(pair, "=")
			if !strings.HasPrefix(name, prefix) || known[name] || value == "" {
				continue
			}
			if similar := similarVariables(name, known); len(similar) > 0 && !yield(name, similar[0]) {
				return
			}
		}
	}
}

// knownFlags adds the variables of the flags of a command and its subcommands.
func knownFlags(cmd *cobra.Command, to map[string]bool) {
	add := func(f *pflag.Flag) { to[variable(f.Name)] = true }
	cmd.Flags().VisitAll(add)
	cmd.PersistentFlags().VisitAll(add)
	for _, c := range cmd.Commands() {
		knownFlags(c, to)
	}
}

// similarVariables returns the known variables that differ from a name in at most one letter of four.
func similarVariables(name string, variables map[string]bool) []string {
	return Similar(name, max(1, (len(name)-len(prefix)+1)/4), maps.Keys(variables))
}
