package main

import (
	"slices"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/cmd/ndd/design"
	"ndd/engine/result"
)

// values lists the values of flags by name, for the shell's completion. An entry of a command and a
// flag comes before one of the flag alone.
var values = map[string][]string{
	"format":         result.FormatNames(result.Tables...),
	"input-format":   {"auto", "text", "html", "jsonl", "json", "lines", "csv", "parquet", "warc"},
	"batch format":   result.FormatNames(append(slices.Clone(result.Tables), result.Binary)...),
	"compare format": cli.ReportFormats("text"),
	"export format":  {"ndf", "tsv", "jsonl"},
	"extract":        {"auto", "main", "all"},
	"drop":           {"urls", "markup", "numbers", "dates"},
	"method":         {"auto", "spotsigs", "ccdet", "winnow", "shingles"},
	"design format":  cli.ReportFormats("table"),
	"check format":   cli.ReportFormats("text"),
	"info format":    cli.ReportFormats("text"),
	"version format": {"text", "json"},
	"keep":           {"first", "longest", "shortest", "newest", "source"},
	"layout":         {"auto", "planar", "huffman"},
	"checksums":      {"full", "fast"},
	"verify":         {"jaccard>=0.8"},
	"eval verify":    {"0"},
	"recipe":         {"minwise", "minwise-pairs", "ordered", "simhash"},
	"sync":           {"always", "never", "interval=100ms"},
	"on-conflict":    {"replace", "keep", "error"},
	"eval format":    cli.ReportFormats("text"),
	"numa":           {"auto", "on", "off"},
	"ids":            {"none", "rows", "names"},
	"for":            {"online", "batch"},
	"kernel":         {"auto", "avx512", "avx2", "neon", "generic"},
	"log-format":     {"text", "json"},
	"profile":        {"cpu", "mem", "allocs", "block", "mutex", "goroutine", "thread", "clock", "trace"},
}

// completeValues has the shell complete the values of the flags of root and its commands. It is
// called to complete a line only: cobra keeps every flag with a completion for as long as the
// process runs.
func completeValues(root *cobra.Command) {
	for _, cmd := range append(root.Commands(), root) {
		for name, of := range values {
			if own, ok := values[cmd.Name()+" "+name]; ok {
				of = own
			}
			complete(cmd, name, cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp))
		}
		complete(cmd, "design", design.Complete)
	}
}

// complete has the values of one flag completed, if the command has it.
func complete(cmd *cobra.Command, flag string, found cobra.CompletionFunc) {
	if cmd.Flags().Lookup(flag) == nil && cmd.PersistentFlags().Lookup(flag) == nil {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, found); err != nil {
		panic(err) // a flag that is completed twice
	}
}
