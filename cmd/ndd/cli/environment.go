package cli

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// prefix is how the names of variables begin.
const prefix = "NDD_"

// otherVariables are those that no flag has: of the clients in `ndd help crawler`, and of the tests of kernels.
var otherVariables = []string{"NDD_SERVER", "NDD_TOKEN", "NDD_REQUIRE_KERNEL"}

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

// sayMisspelt warns of variables that are nearly those of a flag, of this command or another. What is like none may be of another program.
func (g *Globals) sayMisspelt(root *cobra.Command) {
	known := map[string]bool{}
	for _, name := range otherVariables {
		known[name] = true
	}
	knownFlags(root, known)
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, prefix) || known[name] || value == "" {
			continue
		}
		if like := nearest(name, known); like != "" {
			g.Log.Warn(fmt.Sprintf("environment variable %s has no effect: did you mean %s?", name, like))
		}
	}
}

// knownFlags adds the variables of the flags of a command and of those below it.
func knownFlags(cmd *cobra.Command, to map[string]bool) {
	add := func(f *pflag.Flag) { to[variable(f.Name)] = true }
	cmd.Flags().VisitAll(add)
	cmd.PersistentFlags().VisitAll(add)
	for _, c := range cmd.Commands() {
		knownFlags(c, to)
	}
}

// nearest returns the known name that is most like name, "" where none is a slip away: one in four letters, or a single one.
func nearest(name string, known map[string]bool) (like string) {
	least := max(1, (len(name)-len(prefix))/4) + 1
	for _, other := range slices.Sorted(maps.Keys(known)) {
		if n := slips(name, other); n < least {
			least, like = n, other
		}
	}
	return like
}

// slips returns how many letters must be put in, left out, changed or exchanged with the next one to make b of a.
func slips(a, b string) int {
	var before, last, row []int // of the prefixes of b, for those of a
	for i := range len(a) + 1 {
		row = make([]int, len(b)+1)
		for j := range row {
			switch {
			case i == 0 || j == 0:
				row[j] = i + j
				continue
			case a[i-1] == b[j-1]:
				row[j] = last[j-1]
			default:
				row[j] = 1 + min(last[j-1], last[j], row[j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], 1+before[j-2])
			}
		}
		before, last = last, row
	}
	return row[len(b)]
}
