package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/cmd/ndd/copies"
	"example.org/ndd/cmd/ndd/corpus"
	"example.org/ndd/cmd/ndd/dedup"
	"example.org/ndd/cmd/ndd/design"
	"example.org/ndd/cmd/ndd/index"
	"example.org/ndd/cmd/ndd/inspect"
	"example.org/ndd/cmd/ndd/mapreduce"
	"example.org/ndd/cmd/ndd/passages"
	"example.org/ndd/cmd/ndd/query"
	"example.org/ndd/cmd/ndd/serve"
	"example.org/ndd/engine"
	"example.org/ndd/engine/storage/object"
	"example.org/ndd/permute"
)

// run runs the program and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	g := &cli.Globals{Streams: cli.Streams{Stdin: stdin, Stdout: stdout, Stderr: stderr}}
	return runWith(ctx, g, args)
}

// runWith is run with the given globals.
func runWith(ctx context.Context, g *cli.Globals, args []string) int {
	stderr := g.Stderr
	g.Version = buildVersion()
	g.Open()
	root := newRoot(g)
	root.SetArgs(args)
	root.SetIn(g.Stdin)
	root.SetOut(g.Stdout)
	root.SetErr(stderr)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		completeValues(root)
	}
	cmd, err := root.ExecuteContextC(object.NewContext(ctx, object.New(object.FromEnvironment())))
	// A failed write of standard output is the error of a command that has otherwise only a status.
	if e := g.Close(); e != nil && (err == nil || errors.Is(err, cli.ErrPartly) || errors.Is(err, query.ErrNoHits)) {
		err = e
	}
	status := exitStatus(ctx, err)
	switch {
	case status == exitInterrupted:
		fmt.Fprintln(stderr, "ndd: interrupted")
	// The warning has been printed.
	case err != nil && status != exitPipe && !errors.Is(err, cli.ErrPartly) && !errors.Is(err, query.ErrNoHits):
		text := strings.TrimPrefix(err.Error(), cli.ErrUsage.Error()+": ") + flagHint(cmd, err) + commandHint(err)
		fmt.Fprintf(stderr, "ndd: %s\n", strings.ReplaceAll(text, "\n", "\nndd: ")) // one line for each of several errors
		if status == exitUsage {
			fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		}
	}
	if status == g.OKStatus {
		return exitDone
	}
	return status
}

// flagHint returns the end of a sentence that names the flag of cmd which avoids err, or "".
func flagHint(cmd *cobra.Command, err error) string {
	has := func(flag string) bool { return cmd.Flags().Lookup(flag) != nil }
	switch {
	case errors.Is(err, os.ErrExist) && has("force"):
		return ", or replace it with --force"
	case errors.Is(err, engine.ErrNoIndex) && errors.Is(err, os.ErrNotExist) && has("create"):
		return "; --create makes one"
	case errors.Is(err, engine.ErrNoDocs) && has("memory-only"):
		return "; --memory-only serves it"
	}
	return ""
}

// commandHint returns the end of a sentence that names the commands which make what err misses, or "".
func commandHint(err error) string {
	if e, ok := errors.AsType[*engine.DistanceError](err); ok && e.K > e.Max && e.K <= permute.MaxK {
		return fmt.Sprintf("; 'ndd export INDEX -o all.ndf' and 'ndd build -k %d -o NEW all.ndf' make one for it", e.K)
	}
	switch {
	case errors.Is(err, engine.ErrNoIndex) && !errors.Is(err, os.ErrNotExist):
		return ": 'ndd fingerprint -o pages.ndf DOCUMENTS' and 'ndd build -o INDEX pages.ndf' make an index, which is a folder"
	case errors.Is(err, engine.ErrNoRecipe):
		return "; build it again with 'ndd build --recipe NAME'"
	case errors.Is(err, engine.ErrDense):
		return ", or 'ndd batch --scan'"
	}
	return ""
}

// packaging returns the command that only builds for packages have. It is nil in other builds.
var packaging func() *cobra.Command

func newRoot(g *cli.Globals) *cobra.Command {
	root := &cobra.Command{
		Use:   "ndd",
		Short: "Find near-duplicate documents, exactly",
		Long: `ndd turns documents into 64-bit fingerprints and finds, exactly, those within k bits of a
query (Manku, Jain, Das Sarma, WWW 2007). 'ndd help concepts' explains the terms. Data
goes to standard output, everything else to standard error. Every flag can also be set in
the environment: --threads as NDD_THREADS.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 corrupt or mismatched data, 4 done in part
(some input was skipped; --ok-status 4 makes it 0), 130 interrupted.`,
		Example: `  ndd dedup docs/                            which of these documents are near-duplicates?
  ndd fingerprint -o pages.ndf docs/ && ndd build -o index pages.ndf
  ndd serve -i index                         answer queries over HTTP`,
		Annotations: cli.HelpOf("", "Flags of all commands: threads=N kernel=NAME log-format=FORMAT quiet verbose no-progress "+
			"ok-status=N profile=KIND version"),
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return g.Begin(cmd) },
		Args:              cli.NoArgs,
	}
	// The field Version would make cobra link text/template: see plot.Page.
	version := root.Flags().Bool("version", false, "print the version")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if !*version {
			return cmd.Help()
		}
		_, err := fmt.Fprintln(g.Stdout, "ndd", buildVersion())
		return err
	}
	root.SetUsageFunc(cli.Usage)
	root.SetFlagErrorFunc(flagError)
	g.Register(root.PersistentFlags())

	for _, commands := range []func(*cli.Globals) []*cobra.Command{
		corpus.Commands, design.Commands, index.Commands, inspect.Commands, query.Commands, dedup.Commands,
		copies.Commands, passages.Commands, mapreduce.Commands, serve.Commands,
	} {
		root.AddCommand(commands(g)...)
	}
	root.AddCommand(newVersion(g))
	if packaging != nil {
		root.AddCommand(packaging())
	}
	root.AddCommand(newTopics()...)
	root.SetHelpCommand(newHelp())
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Args = cli.NoArgs // an unknown shell is an error, not a request for help
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	return root
}

// flagError returns the usage error for an unknown flag or a bad value.
func flagError(cmd *cobra.Command, err error) error {
	similar := ""
	if name, unknown := strings.CutPrefix(err.Error(), "unknown flag: "); unknown {
		similar = cli.DidYouMeanFlag(cmd, name)
	}
	return cli.Usagef("%w%s", cli.ValueError(err), similar)
}
