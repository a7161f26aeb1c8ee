package main

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// topics are the names and titles of the pages of `ndd help` about subjects rather than commands.
var topics = [][2]string{
	{"cluster", "More than one machine: Hadoop, Spark, a shell; when it is worth it"},
	{"concepts", "The terms: fingerprint, distance, probe, candidate, design, ..."},
	{"corpus", "A corpus of a hundred gigabytes: in parts, what goes and why, MinHash"},
	{"crawler", "A crawler's calls: curl, Python, Scrapy, Go"},
	{"decisions", "Which documents dedup removes, which it keeps, and what it compares"},
	{"formats", "What is read and written: documents, fingerprints, hits, indexes"},
	{"indexes", "Indexes and batches: build, query, batch, design, export, merge, backup"},
	{"measuring", "How to measure recall and precision on your own documents: eval"},
	{"operations", "A server for years: start, sizes, backup, upgrade, what to watch"},
	{"papers", "The papers that ndd implements: each figure, the command that repeats it"},
	{"python", "ndd in Python: datasets, DuckDB, datatrove, Spark, Ray, Airflow, images"},
	{"recipes", "How texts become fingerprints, and what is found with each recipe"},
	{"repeats", "Repeated parts of texts, and items of evaluations: passages, decontaminate"},
	{"signatures", "Copies of texts by signatures: methods, table, files, settings: copies"},
	{"tuning", "How to make queries faster and indexes smaller"},
}

//go:embed help/*.md
var pages embed.FS

// newTopics returns a command without an action for each topic. cobra lists them below the commands,
// and `ndd help TOPIC` prints the page.
func newTopics() (all []*cobra.Command) {
	for _, t := range topics {
		text, err := pages.ReadFile("help/" + t[0] + ".md")
		if err != nil {
			panic(err) // every page is embedded
		}
		topic := &cobra.Command{Use: t[0], Short: t[1], Long: strings.TrimSpace(string(text))}
		topic.SetHelpFunc(func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), cmd.Long) })
		all = append(all, topic)
	}
	return all
}

// topicNames returns the names of the topics: "cluster, concepts, ... or tuning".
func topicNames() string {
	var names []string
	for _, t := range topics {
		names = append(names, t[0])
	}
	return cli.OrList(names)
}

// newHelp returns the command help, which fails for an unknown command or topic.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND or TOPIC]",
		Short: "Explain a command or a topic",
		Long: `Explain what a command does, its flags, and examples, as COMMAND --help does; or
explain a topic: ` + topicNames() + ".",
		Example: "  ndd help batch\n  ndd help concepts",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return cli.Usagef("no command or topic %q%s", strings.Join(args, " "), cli.DidYouMean(cmd.Root(), args[0]))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
