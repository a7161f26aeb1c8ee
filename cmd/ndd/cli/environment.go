package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// prefix begins the name of each variable.
const prefix = "NDD_"

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

// misspelledVariables returns a sentence for each environment variable with a name similar to the variable of a flag of
// any command. Other names may belong to other programs: Kubernetes sets NDD_SERVICE_HOST if a service has the name
// ndd.
func misspelledVariables(root *cobra.Command) (sentences []string) {
	// NDD_SERVER and NDD_TOKEN belong to the clients in 'ndd help crawler'.
	known := map[string]bool{"NDD_SERVER": true, "NDD_TOKEN": true}
	addVariables(root, known)
	candidates := &cobra.Command{}
	for name := range known {
		candidates.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, prefix) || known[name] || value == "" {
			continue
		}
		if similar := DidYouMean(candidates, name); similar != "" {
			sentences = append(sentences, "environment variable "+name+" has no effect"+similar)
		}
	}
	return sentences
}

// addVariables adds the variables of the flags of a command and its subcommands.
func addVariables(cmd *cobra.Command, known map[string]bool) {
	add := func(f *pflag.Flag) { known[variable(f.Name)] = true }
	cmd.Flags().VisitAll(add)
	cmd.PersistentFlags().VisitAll(add)
	for _, c := range cmd.Commands() {
		addVariables(c, known)
	}
}
