package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/result"
)

// values lists the values of flags by name, for the shell's completion. Flags of [cli.WordFlag] complete themselves. An
// entry for a command and a flag overrides the entry for the flag.
var values = map[string][]string{
	"format":       result.FormatNames(result.Tables...),
	"input-format": {"auto", "text", "html", "jsonl", "json", "lines", "csv", "parquet", "warc"},
	"batch format": result.FormatNames(append(slices.Clone(result.Tables), result.Binary)...),
	"extract":      {"auto", "main", "all"},
	"method":       {"auto", "spotsigs", "ccdet", "winnow", "shingles"},
	"keep":         {"first", "longest", "shortest", "newest", "source"},
	"verify":       {"sketch", "text", "exact", "jaccard>=0.7", "contained>=1"},
	"eval verify":  {"0"},
	"recipe":       {"minwise", "minwise-pairs", "simhash"},
	"sync":         {"always", "never", "interval=100ms"},
	"design":       {"one", "halves", "thirds", "quarters", "paper-4", "paper-10", "paper-16", "paper-20"},
	"kernel":       {"auto", "avx512", "avx2", "neon", "generic"},
	"profile":      {"cpu", "mem", "allocs", "block", "mutex", "goroutine", "thread", "clock", "trace"},
}

// completeValues registers completions for the values of the flags of root and its commands. It is called only to
// complete a line, because cobra keeps registered flags in memory as long as the process runs.
func completeValues(root *cobra.Command) {
	for _, cmd := range append(root.Commands(), root) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			words, own := values[cmd.Name()+" "+f.Name]
			if !own {
				words = values[f.Name]
			}
			if word, ok := f.Value.(*cli.WordFlag); ok {
				words = word.Words
			}
			if words == nil {
				return
			}
			complete := cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
			if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
				panic(err) // a flag that is completed twice
			}
		})
	}
}
