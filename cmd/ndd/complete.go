package main

import (
	"slices"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/result"
)

// values are the values of flags by name, in every command that has them, for the shell's
// completion. A flag of several meanings has its values by command and name.
var values = map[string][]string{
	"format":              {"auto", "text", "html", "jsonl", "json", "lines", "csv", "parquet", "warc"}, // of documents
	"document-format":     {"auto", "text", "html", "jsonl", "json", "lines", "csv", "parquet", "warc"},
	"batch format":        result.FormatNames(append(slices.Clone(result.Tables), result.Binary)...),
	"query format":        result.FormatNames(result.Tables...),
	"compare format":      cli.ReportFormats("text"),
	"dedup format":        result.FormatNames(result.Tables...),
	"copies format":       result.FormatNames(result.Tables...),
	"export format":       {"ndf", "tsv", "jsonl"},
	"extract":             {"auto", "main", "all"},
	"drop":                {"urls", "markup", "numbers", "dates"},
	"method":              {"auto", "spotsigs", "ccdet", "winnow", "shingles"},
	"design format":       cli.ReportFormats("table"),
	"plan-cluster format": cli.ReportFormats("text"),
	"check format":        cli.ReportFormats("text"),
	"inspect format":      cli.ReportFormats("text"),
	"stats format":        cli.ReportFormats("text"),
	"version format":      {"text", "json"},
	"quality":             {"fast", "balanced", "thorough"},
	"keep":                {"first", "longest", "shortest", "newest"},
	"layout":              {"auto", "planar", "huffman"},
	"checksums":           {"full", "fast"},
	"verify":              {"jaccard>=0.8"},
	"eval verify":         {"0"},
	"recipe":              {"minwise", "minwise-pairs", "simhash"},
	"sync":                {"always", "never", "interval=100ms"},
	"on-conflict":         {"replace", "keep", "error"},
	"eval format":         cli.ReportFormats("text"),
	"numa":                {"auto", "on", "off"},
	"ids":                 {"none", "rows", "names"},
	"for":                 {"online", "batch"},
	"kernel":              {"auto", "avx512", "avx2", "neon", "generic"},
	"log-format":          {"text", "json"},
	"profile":             {"cpu", "mem", "allocs", "block", "mutex", "goroutine", "thread", "clock", "trace"},
}

// completeValues has the shell complete the values of flags, for root and all its commands.
func completeValues(root *cobra.Command) {
	for _, cmd := range append(root.Commands(), root) {
		for name := range values {
			if own, ok := values[cmd.Name()+" "+name]; ok {
				complete(cmd, name, own)
			} else {
				complete(cmd, name, values[name])
			}
		}
	}
}

// complete has the values of one flag completed, if the command has it.
func complete(cmd *cobra.Command, flag string, values []string) {
	if cmd.Flags().Lookup(flag) == nil && cmd.PersistentFlags().Lookup(flag) == nil {
		return
	}
	must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// must panics on an error that only the programmer can cause: a flag that is completed twice.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
