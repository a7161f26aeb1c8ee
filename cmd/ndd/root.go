package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ndd/engine/storage/object"
)

// run runs the whole program and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	g := &globals{stdin: stdin, stdout: stdout, stderr: stderr}
	return runWith(ctx, g, args)
}

// runWith is [run] with what the globals have beside the streams.
func runWith(ctx context.Context, g *globals, args []string) int {
	stderr := g.stderr
	g.version, g.args = buildVersion(), args
	g.open()
	root := newRoot(g)
	root.SetArgs(args)
	root.SetIn(g.stdin)
	root.SetOut(g.stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(object.NewContext(ctx, object.New(object.FromEnvironment(os.Getenv))))
	if e := g.close(); err == nil {
		err = e
	}
	status := exitStatus(ctx, err)
	switch {
	case status == exitInterrupted:
		fmt.Fprintln(stderr, "ndd: interrupted")
	case err != nil && status != exitPipe && !errors.Is(err, errPartly) && !errors.Is(err, errNoHits): // what was left out has been said
		text := strings.TrimPrefix(err.Error(), errUsage.Error()+": ") + advice(cmd, err)
		fmt.Fprintf(stderr, "ndd: %s\n", strings.ReplaceAll(text, "\n", "\nndd: ")) // of several errors, a line each
		if status == exitUsage {
			fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		}
	}
	return status
}

func newRoot(g *globals) *cobra.Command {
	root := &cobra.Command{
		Use:   "ndd",
		Short: "Find near-duplicate documents, exactly",
		Long: `ndd turns documents into 64-bit fingerprints, stores them in permuted, sorted,
compressed tables, and answers exactly which of them are within k bits of a
query (Manku, Jain, Das Sarma, WWW 2007). 'ndd help concepts' explains the
terms.

Data goes to standard output, everything else to standard error. Every flag
can also be set in the environment: --threads as NDD_THREADS.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 corrupt or mismatched data,
4 done in part (some input was skipped), 130 interrupted.`,
		Example: `  ndd dedup docs/                     which of these documents are near-duplicates?
  ndd fingerprint -o pages.ndf docs/  documents to fingerprints
  ndd build -o index pages.ndf        fingerprints to an index
  ndd query -i index --document new.html
  ndd serve -i index`,
		Version:           buildVersion(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return g.begin(cmd) },
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Args:              noArgs,
	}
	root.SetVersionTemplate("ndd {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usagef("%w%s", err, didYouMeanFlag(cmd, err)) })
	g.register(root.PersistentFlags())

	for _, commands := range []func(*globals) []*cobra.Command{
		commandsOfcorpus, commandsOfdesign, commandsOfindex, commandsOfinspect, commandsOfquery, commandsOfdedup, commandsOfcopies, commandsOfmapreduce, commandsOfserve,
	} {
		root.AddCommand(commands(g)...)
	}
	root.AddCommand(newVersion(g), newMan(g))
	root.AddCommand(newTopics()...)
	root.SetHelpCommand(newHelp())
	completeValues(root)
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Args = noArgs // "nosuch shell" is not asking for help
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	return root
}

// didYouMeanFlag is didYouMean for the flag that an error says is unknown.
func didYouMeanFlag(cmd *cobra.Command, err error) string {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return ""
	}
	flags := new(cobra.Command) // one with flags for commands: suggestions are of commands
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: "--" + f.Name, Run: func(*cobra.Command, []string) {}})
	})
	return didYouMean(flags, "--"+name)
}
