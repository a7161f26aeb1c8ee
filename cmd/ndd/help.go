package main

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
)

// pages are the guides, one Markdown file for each topic. The first line is the title.
//
//go:embed help/*.md
var pages embed.FS

// newTopics returns a command without an action for each topic. cobra lists them below the commands,
// and `ndd help TOPIC` prints the page.
func newTopics() (all []*cobra.Command) {
	for _, name := range topicNames() {
		text, err := pages.ReadFile("help/" + name + ".md")
		if err != nil {
			panic(err) // every page is embedded
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		topic := &cobra.Command{Use: name, Short: title, Long: strings.TrimSpace(string(text))}
		topic.SetHelpFunc(func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), cmd.Long) })
		all = append(all, topic)
	}
	return all
}

// topicNames returns the names of the topics in alphabetical order.
func topicNames() (names []string) {
	entries, err := pages.ReadDir("help")
	if err != nil {
		panic(err) // the folder is embedded
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".md"))
	}
	return names
}

// newHelp returns the command help, which fails for an unknown command or topic.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND or TOPIC]",
		Short: "Explain a command or a topic",
		Long: `Explain a command, as COMMAND --help does, or print the guide about a topic.
'ndd --help' lists the commands and the topics.`,
		Example: "  ndd help batch\n  ndd help concepts",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, names, err := cmd.Root().Find(args)
			if err != nil || len(names) > 0 {
				return cli.Usagef("no command or topic %q%s", strings.Join(args, " "), cli.DidYouMean(cmd.Root(), args[0]))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
