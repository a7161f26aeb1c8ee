package main

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ndd/asm"
	"ndd/engine/memory"
	"ndd/engine/storage/disk"
)

// globals are the streams and the settings that all commands share.
type globals struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer

	out      *bufio.Writer // what standard output is written through
	terminal bool          // standard output is one

	version string // of the program

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
	stop     func()    // ends the profile, if there is one
}

// open begins the program's streams: standard output is buffered until close.
func (g *globals) open() {
	g.terminal = isTerminal(g.stdout)
	g.out = bufio.NewWriterSize(g.stdout, 1<<16)
	g.stdout = g.out
}

// close ends the profile, removes what was not published, and writes what is left of standard output.
func (g *globals) close() error {
	g.skipped.abort() // unless it was published
	if g.stop != nil {
		g.stop()
	}
	if err := g.out.Flush(); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}

// register adds the flags that all commands have.
func (g *globals) register(f *pflag.FlagSet) {
	f.IntVar(&g.threads, "threads", 0, "threads that work at the same time; at most 4 per processor, or 16 (default: one per processor)")
	f.StringVar(&g.kernel, "kernel", "", "instruction set to use: auto, avx512, avx2, neon or generic (default auto)")
	f.StringVar(&g.profile, "profile", "", "write a profile, NAME.pprof or trace.out, into the current folder: cpu, mem, allocs, block, mutex, goroutine, thread, clock or trace")
	f.StringVar(&g.logFormat, "log-format", "text", "format of messages on standard error: text or json")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "print no messages except errors")
	f.BoolVarP(&g.verbose, "verbose", "v", false, "also report memory plans, timings, and how tables were chosen")
	f.BoolVar(&g.noProgress, "no-progress", false, "show no progress (there is none unless standard error is a terminal)")
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
