package cli

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/ndd/asm"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/object"
)

// Globals holds the streams, settings and messages of a command.
type Globals struct {
	Streams

	Version string         // version of the program
	Machine memory.Machine // reports free memory; the zero value for this host
	Disk    *disk.Disk     // disk of written files; nil for the disk of the system

	Threads  int
	kernel   string
	profile  profileRun
	OKStatus int // exit status that becomes 0

	cmd   *cobra.Command  // the running command
	Given map[string]bool // flags of the command line, without flags that the environment sets

	Log      *slog.Logger
	Progress Progress // progress of the command on standard error

	closers []func() // functions that Close calls
}

// Files are the globals of a command that reads inputs or writes outputs.
type Files struct {
	*Globals
	claims
	fingerprintFiles
	Skipped skippedFlag
	noFiles bool // the share of --shard is empty
}

// NewFiles returns the Files of a command. [Globals.Close] ends them.
func (g *Globals) NewFiles() *Files {
	f := &Files{Globals: g, claims: claims{globals: g}, fingerprintFiles: fingerprintFiles{globals: g}}
	g.closers = append(g.closers, f.Skipped.abort)
	return f
}

// Streams are the standard streams of a command.
type Streams struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	out      *bufio.Writer // standard output
	terminal bool          // whether it is a terminal
}

// stdoutBytes is the size of the buffer of standard output.
const stdoutBytes = 1 << 16

// Open begins buffering standard output, until [Globals.Close].
func (s *Streams) Open() {
	s.out, s.terminal = bufio.NewWriterSize(s.Stdout, stdoutBytes), terminalOf(s.Stdout) != nil
	s.Stdout = s.out
}

// Close ends the profile, removes unpublished outputs, and flushes standard output.
func (g *Globals) Close() error {
	for _, release := range g.closers {
		release()
	}
	g.profile.end()
	if err := g.out.Flush(); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}

// Register adds the flags of all commands.
func (g *Globals) Register(f *pflag.FlagSet) {
	f.IntVar(&g.Threads, "threads", 0, "threads that work at the same time (default: one per processor)")
	f.StringVar(&g.kernel, "kernel", "", "instruction set: auto (default), avx512, avx2, neon or generic")
	f.StringVar(&g.profile.kind, "profile", "", "cpu, mem, allocs, block, mutex, goroutine, thread, clock, trace")
	WordVar(f, &g.Progress.Format, "log-format", "format of messages: text or json", "text", "json")
	f.BoolVarP(&g.Progress.Quiet, "quiet", "q", false, "print no messages except errors")
	f.BoolVarP(&g.Progress.verbose, "verbose", "v", false, "also report memory plans, timings, and how tables were chosen")
	f.IntVar(&g.OKStatus, "ok-status", 0, "status that becomes 0, for schedulers: 4, done in part")
	f.BoolVar(&g.Progress.off, "no-progress", false, "show no progress in a terminal")
}

// Begin applies the settings before a command runs.
func (g *Globals) Begin(cmd *cobra.Command) error {
	// Set flags from the environment, and check them.
	g.cmd, g.Given = cmd, map[string]bool{}
	cmd.Flags().Visit(func(f *pflag.Flag) { g.Given[f.Name] = true })
	if err := fromEnvironment(cmd.Flags()); err != nil {
		return err
	}
	if g.Threads < 0 {
		return Usagef("--threads %d: must not be negative", g.Threads)
	}
	if g.OKStatus != 0 && g.OKStatus != 4 {
		return Usagef("--ok-status %d: only 4, done in part, can count as done", g.OKStatus)
	}
	requested := g.Threads
	g.Threads = threadsOf(requested, runtime.GOMAXPROCS(0))
	// Open the log.
	level := slog.LevelInfo
	switch {
	case g.Progress.Quiet:
		level = slog.LevelError
	case g.Progress.verbose:
		level = slog.LevelDebug
	}
	p := &g.Progress
	p.messages, p.terminal = &messages{out: g.Stderr}, terminalOf(g.Stderr)
	g.Log = slog.New(&plainHandler{out: p.messages, level: level})
	if p.Format == "json" {
		g.Log = slog.New(slog.NewJSONHandler(p.messages, &slog.HandlerOptions{Level: level}))
	}
	// Warn about settings without effect.
	for _, sentence := range misspelledVariables(cmd.Root()) {
		g.Log.Warn(sentence)
	}
	if g.Threads < requested {
		g.Log.Warn(fmt.Sprintf("--threads %d: using %d, the maximum for %s", requested, g.Threads,
			Number(runtime.GOMAXPROCS(0), "processor")))
	}
	// Choose the kernels, remove leftovers, and start the profile.
	if err := asm.Init(g.kernel); err != nil {
		return err
	}
	g.sweep(cmd)
	return g.profile.begin()
}

// sweep removes the leftovers of killed processes from the current folder, and from the folders of the arguments and
// flags of the command.
func (g *Globals) sweep(cmd *cobra.Command) {
	swept := map[string]bool{}
	sweep := func(path string) {
		dir := filepath.Dir(path)
		if swept[dir] || object.Is(path) {
			return
		}
		swept[dir] = true
		for _, path := range disk.Sweep(dir) {
			g.Log.Info(path + ": removed; a process that was killed left it unfinished")
		}
	}
	sweep("here")
	for _, arg := range cmd.Flags().Args() {
		sweep(arg)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" {
			sweep(f.Value.String())
		}
	})
}

// threadsOf returns the number of threads to use. requested is 0 for the default. It allows four
// threads per processor, because three of them may wait for files. More would only take memory, some ten MiB each.
func threadsOf(requested, processors int) int {
	if requested == 0 {
		return processors
	}
	return min(requested, max(16, 4*processors))
}

// RejectFlags returns wrong usage, with the reason why, if one of the flags was given.
func (g *Globals) RejectFlags(why string, flags ...string) error {
	for _, name := range flags {
		if g.Given[name] {
			return Usagef("--%s %s", name, why)
		}
	}
	return nil
}

// Budget returns the memory budget for a value of --memory. For "" it is the available memory.
func (g *Globals) Budget(limit string) (*memory.Budget, error) {
	bytes, err := ParseMemory(limit)
	return memory.ForProgram(g.Machine.Limit(bytes)), err
}
