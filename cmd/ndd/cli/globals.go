package cli

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ndd/asm"
	"ndd/engine/memory"
	"ndd/engine/storage/disk"
)

// Globals are the streams and the settings that all commands share.
type Globals struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	out      *bufio.Writer // what standard output is written through
	terminal bool          // standard output is one

	Version string // of the program

	Args []string // of the command line, with the command

	Threads    int
	kernel     string
	profile    string
	LogFormat  string
	Quiet      bool
	verbose    bool
	noProgress bool
	Force      bool // of commands with --force
	Skipped    skippedFlag
	outputs    []string // that CheckOutput was asked about

	Disk    *disk.Disk     // is written to; the system's outside of tests
	Machine memory.Machine // is asked for memory; this one outside of tests

	cmd   *cobra.Command  // that runs
	Given map[string]bool // flags on the command line, not those in the environment, which may be meant for other commands

	Log      *slog.Logger
	messages *messages // what it writes to
	stop     func()    // ends the profile, if there is one
}

// Open begins the program's streams: standard output is buffered until close.
func (g *Globals) Open() {
	g.terminal = isTerminal(g.Stdout)
	g.out = bufio.NewWriterSize(g.Stdout, 1<<16)
	g.Stdout = g.out
}

// Close ends the profile, removes what was not published, and writes what is left of standard output.
func (g *Globals) Close() error {
	g.Skipped.abort() // unless it was published
	if g.stop != nil {
		g.stop()
	}
	if err := g.out.Flush(); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}

// Register adds the flags that all commands have.
func (g *Globals) Register(f *pflag.FlagSet) {
	f.IntVar(&g.Threads, "threads", 0, "threads that work at the same time; at most 4 per processor, or 16 (default: one per processor)")
	f.StringVar(&g.kernel, "kernel", "", "instruction set to use: auto, avx512, avx2, neon or generic (default auto)")
	f.StringVar(&g.profile, "profile", "", "write a profile, NAME.pprof or trace.out, into the current folder: cpu, mem, allocs, block, mutex, goroutine, thread, clock or trace")
	f.StringVar(&g.LogFormat, "log-format", "text", "format of messages on standard error: text or json")
	f.BoolVarP(&g.Quiet, "quiet", "q", false, "print no messages except errors")
	f.BoolVarP(&g.verbose, "verbose", "v", false, "also report memory plans, timings, and how tables were chosen")
	f.BoolVar(&g.noProgress, "no-progress", false, "show no progress (there is none unless standard error is a terminal)")
}

// Begin applies the settings before a command runs.
func (g *Globals) Begin(cmd *cobra.Command) error {
	g.cmd, g.Given = cmd, map[string]bool{}
	cmd.Flags().Visit(func(f *pflag.Flag) { g.Given[f.Name] = true })
	if err := fromEnvironment(cmd.Flags()); err != nil {
		return err
	}
	if g.Threads < 0 {
		return Usagef("--threads %d: must not be negative", g.Threads)
	}
	asked := g.Threads
	g.Threads = threadsOf(asked, runtime.GOMAXPROCS(0))
	level := slog.LevelInfo
	switch {
	case g.Quiet:
		level = slog.LevelError
	case g.verbose:
		level = slog.LevelDebug
	}
	g.messages = &messages{out: g.Stderr}
	switch g.LogFormat {
	case "text":
		g.Log = slog.New(newPlainHandler(g.messages, level))
	case "json":
		g.Log = slog.New(slog.NewJSONHandler(g.messages, &slog.HandlerOptions{Level: level}))
	default:
		return Usagef("--log-format %q: must be text or json", g.LogFormat)
	}
	g.sayMisspelt(cmd.Root())
	if g.Threads < asked {
		g.Log.Warn(fmt.Sprintf("--threads %d: using %d, the most that %s can use", asked, g.Threads, Number(runtime.GOMAXPROCS(0), "processor")))
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

// Refuse returns wrong usage if one of the flags was given that would have no effect.
func (g *Globals) Refuse(why string, flags ...string) error {
	for _, name := range flags {
		if g.Given[name] {
			return Usagef("--%s %s", name, why)
		}
	}
	return nil
}
