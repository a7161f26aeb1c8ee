package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/pkg/profile"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ndd/asm"
	"ndd/engine/copies"
	"ndd/engine/corpus/simhash"
	"ndd/engine/mapreduce"
	"ndd/engine/memory"
	"ndd/engine/parallel"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/object"
	"ndd/engine/storage/store"
)

// Exit status.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitCorrupt     = 3 // corrupt or mismatched data
	exitPartly      = 4 // done in part: some input was skipped
	exitInterrupted = 130
	exitPipe        = 141 // nobody reads standard output any more: what shells say of a program that SIGPIPE ends
)

var (
	errUsage  = errors.New("wrong usage")
	errPartly = errors.New("done in part")
)

func usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errUsage, fmt.Errorf(format, args...))
}

// globals are the streams and the settings that all commands share.
type globals struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer

	terminal bool // standard output is one

	args []string // of the command line, with the command

	threads    int
	kernel     string
	profile    string
	logFormat  string
	quiet      bool
	verbose    bool
	noProgress bool
	force      bool // of commands with --force
	skipped    skippedFlag

	disk    *disk.Disk     // is written to; the system's outside of tests
	machine memory.Machine // is asked for memory; this one outside of tests

	cmd   *cobra.Command  // that runs
	given map[string]bool // flags on the command line, not those in the environment, which may be meant for other commands

	log      *slog.Logger
	messages *messages // what it writes to
	stop     func()    // ends the profile
}

// run runs the whole program and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	g := &globals{stdin: stdin, stdout: stdout, stderr: stderr}
	return g.run(ctx, args)
}

// run is [run] with what the globals have beside the streams.
func (g *globals) run(ctx context.Context, args []string) int {
	out, stderr := bufio.NewWriterSize(g.stdout, 1<<16), g.stderr
	g.terminal = isTerminal(g.stdout)
	g.stdout, g.stop = out, func() {}
	root := newRoot(g)
	root.SetArgs(args)
	g.args = args
	root.SetIn(g.stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(object.NewContext(ctx, object.New(object.FromEnvironment(os.Getenv))))
	g.skipped.abort() // unless it was published
	g.stop()
	if e := out.Flush(); err == nil && e != nil {
		err = fmt.Errorf("standard output: %w", e)
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

func exitStatus(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return exitDone
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, syscall.EPIPE):
		return exitPipe
	case errors.Is(err, errUsage), errors.Is(err, asm.ErrKernel):
		return exitUsage
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, simhash.ErrMixed), errors.Is(err, copies.ErrMixed), errors.Is(err, mapreduce.ErrLost), errors.Is(err, mapreduce.ErrJob), errors.Is(err, mapreduce.ErrRecipe):
		return exitCorrupt
	case errors.Is(err, errPartly), errors.Is(err, mapreduce.ErrUnfinished):
		return exitPartly
	}
	return exitFailed
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
	f := root.PersistentFlags()
	f.IntVar(&g.threads, "threads", 0, "threads that work at the same time; at most 4 per processor, or 16 (default: one per processor)")
	f.StringVar(&g.kernel, "kernel", "", "instruction set to use: auto, avx512, avx2, neon or generic (default auto)")
	f.StringVar(&g.profile, "profile", "", "write a profile, NAME.pprof or trace.out, into the current folder: cpu, mem, allocs, block, mutex, goroutine, thread, clock or trace")
	f.StringVar(&g.logFormat, "log-format", "text", "format of messages on standard error: text or json")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "print no messages except errors")
	f.BoolVarP(&g.verbose, "verbose", "v", false, "also report memory plans, timings, and how tables were chosen")
	f.BoolVar(&g.noProgress, "no-progress", false, "show no progress (there is none unless standard error is a terminal)")

	root.AddCommand(newFingerprint(g), newBuild(g), newQuery(g), newBatch(g), newDedup(g), newServe(g), newHealth(g), newMerge(g), newBackup(g), newDesign(g), newCheck(g), newInspect(g), newStats(g), newCompare(g), newCopies(g), newEval(g), newMapReduce(g), newPlanCluster(g), newVersion(g), newMan(g))
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

// noArgs and someArgs are cobra's checks with the exit status of wrong usage.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		if cmd.HasSubCommands() {
			return usagef("unknown command %q%s", args[0], didYouMean(cmd, args[0]))
		}
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}

// didYouMean returns the commands whose names are like an unknown one, as the end of a sentence; ""
// if there is none.
func didYouMean(cmd *cobra.Command, name string) string {
	cmd.SuggestionsMinimumDistance = 2
	like := cmd.SuggestionsFor(name)
	if len(like) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(like, " or ") + "?"
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

func someArgs(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("missing argument: %s", what)
		}
		return nil
	}
}

func oneArg(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("expected one argument, %s, got %d", what, len(args))
		}
		return nil
	}
}

// begin applies the settings before a command runs.
func (g *globals) begin(cmd *cobra.Command) error {
	g.cmd, g.given = cmd, map[string]bool{}
	cmd.Flags().Visit(func(f *pflag.Flag) { g.given[f.Name] = true })
	if err := fromEnvironment(cmd.Flags()); err != nil {
		return err
	}
	if g.threads < 0 {
		return usagef("--threads %d: must not be negative", g.threads)
	}
	asked := g.threads
	g.threads = threadsOf(asked, runtime.GOMAXPROCS(0))
	level := slog.LevelInfo
	switch {
	case g.quiet:
		level = slog.LevelError
	case g.verbose:
		level = slog.LevelDebug
	}
	g.messages = &messages{out: g.stderr}
	switch g.logFormat {
	case "text":
		g.log = slog.New(newPlainHandler(g.messages, level))
	case "json":
		g.log = slog.New(slog.NewJSONHandler(g.messages, &slog.HandlerOptions{Level: level}))
	default:
		return usagef("--log-format %q: must be text or json", g.logFormat)
	}
	if g.threads < asked {
		g.log.Warn(fmt.Sprintf("--threads %d: using %d, the most that %s can use", asked, g.threads, number(runtime.GOMAXPROCS(0), "processor")))
	}
	if err := asm.Init(g.kernel); err != nil {
		return err
	}
	return g.beginProfile()
}

// threadsOf returns the number of threads to use where so many were requested, 0 for the default.
// Each takes memory, up to some ten MiB, so that those are none which could only wait for a
// processor: of four, three may wait for a file.
func threadsOf(asked, processors int) int {
	if asked == 0 {
		return processors
	}
	return min(asked, max(16, 4*processors))
}

// refuse returns wrong usage if one of the flags was given that would have no effect.
func (g *globals) refuse(why string, flags ...string) error {
	for _, name := range flags {
		if g.given[name] {
			return usagef("--%s %s", name, why)
		}
	}
	return nil
}

// fromEnvironment sets the flags that were not given from NDD_* variables.
func fromEnvironment(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		name := "NDD_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := os.LookupEnv(name)
		if !ok || f.Changed || err != nil || f.Name == "help" {
			return
		}
		if e := flags.Set(f.Name, value); e != nil {
			err = usagef("environment variable %s: %w", name, e)
		}
	})
	return err
}

var profiles = map[string]func(*profile.Profile){
	"cpu": profile.CPUProfile, "mem": profile.MemProfile, "allocs": profile.MemProfileAllocs,
	"block": profile.BlockProfile, "mutex": profile.MutexProfile, "goroutine": profile.GoroutineProfile,
	"thread": profile.ThreadcreationProfile, "clock": profile.ClockProfile, "trace": profile.TraceProfile,
}

func (g *globals) beginProfile() error {
	if g.profile == "" {
		return nil
	}
	mode, ok := profiles[g.profile]
	if !ok {
		return usagef("--profile %q: must be cpu, mem, allocs, block, mutex, goroutine, thread, clock or trace", g.profile)
	}
	p := profile.Start(mode, profile.ProfilePath("."), profile.NoShutdownHook, profile.Quiet)
	labelled := func() {}
	if g.profile == "cpu" || g.profile == "goroutine" {
		labelled = parallel.LabelStages()
	}
	g.stop = func() {
		p.Stop()
		labelled()
	}
	return nil
}
