// Command bench measures ndd on this machine, and verifies every answer that it measures.
//
//	go run ./bench                    every benchmark, which takes some minutes
//	go run ./bench search serve       two of them
//	go run ./bench -n 100e6 search    with 100 million fingerprints
//	go run ./bench -n 2e9 large       as many fingerprints as fit in memory
//	go run ./bench --labelled set     a labelled set of invented documents for ndd eval
//	go run ./bench --help             the list of benchmarks
//
// A table is measured in rounds. Each figure is the median, followed by the minimum and the maximum. Times that depend
// on memory are also given as a ratio to the memory of the machine, which is measured in the same run. README.md of
// this folder describes the methods.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"example.org/ndd/asm"
	"example.org/ndd/bench/invented"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// A benchmark is one thing that is measured, and gives one table.
type benchmark struct {
	name  string
	what  string // one line of --help
	apart bool   // run only when it is named: it is long, or needs much memory
	run   func(ctx context.Context, b *bench, r *Result) error
}

// benchmarks lists all benchmarks in the order of a run.
var benchmarks = []benchmark{
	{name: "search", what: "queries online and in batches, bytes and build, by design of tables", run: search},
	{name: "corpus", what: "a corpus without its near-duplicates, by format and number of files, with one thread and two",
		run: dedupCorpus},
	{name: "serve", what: "a server under load, closed and open loop, next to one that answers a constant", run: serve},
	{name: "large", what: "an index in the memory of a large host: build, load, queries, threads", apart: true, run: large},
}

// A bench is the settings of a run.
type bench struct {
	n        int           // fingerprints
	queries  int           // queries of a batch
	rounds   int           // maximum number of rounds of each measurement
	limit    time.Duration // no round of a measurement begins after this time; 0: no limit
	dir      string        // folder for files of the benchmark; removed after it
	labelled string        // folder for a labelled set; empty: none
	kernel   string
	log      io.Writer
}

// run runs the command and returns its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := command(ctx, args, stdout, stderr)
	switch {
	case err == nil || errors.Is(err, pflag.ErrHelp):
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "bench: interrupted")
		return 130
	}
	fmt.Fprintf(stderr, "bench: %v\n", err)
	return 1
}

// limit is the maximum number of fingerprints or queries: more than any memory holds.
const limit = 1e12

// parse parses and checks a command line, and returns the benchmarks to run.
func parse(args []string, stdout, stderr io.Writer) (b *bench, chosen []benchmark, err error) {
	b = &bench{log: stderr}
	f := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	f.SetOutput(stderr)
	// The help lists flags and benchmarks.
	f.Usage = func() {
		fmt.Fprintf(stdout, "usage: go run ./bench [flags] [benchmark ...]\n\nMeasures ndd on this machine and verifies "+
			"what it measures.\n\n%s\nBenchmarks (* only when named):\n", f.FlagUsages())
		for _, t := range benchmarks {
			mark := ' '
			if t.apart {
				mark = '*'
			}
			fmt.Fprintf(stdout, "%c %-12s %s\n", mark, t.name, t.what)
		}
	}
	// Define the flags.
	n := f.Float64P("fingerprints", "n", 10e6, "number of fingerprints, such as 1e9")
	queries := f.Float64("queries", 1e6, "number of queries of a batch")
	f.IntVar(&b.rounds, "rounds", 5, "rounds of each measurement; the median is printed; a run of all "+
		"benchmarks has fewer of what takes seconds")
	f.StringVar(&b.labelled, "labelled", "", "write 1,000 invented documents and 3,000 labelled pairs into this new folder, "+
		"and measure nothing")
	f.StringVar(&b.dir, "dir", "", "folder for temporary files (default: the system's)")
	f.StringVar(&b.kernel, "kernel", "", "instruction set to use: auto, avx512, avx2, neon or generic")
	// Parse and check the arguments. A run of all benchmarks has a time limit.
	if err := f.Parse(args); err != nil {
		return nil, nil, err
	}
	if chosen, err = choose(f.Args()); err != nil {
		return nil, nil, err
	}
	if !(*n >= 1000 && *n <= limit) || !(*queries >= 100 && *queries <= limit) || b.rounds < 1 { // true for NaN, too
		return nil, nil, errors.New("at least 1,000 fingerprints, 100 queries and one round, and at most 1e12 of the " +
			"first two")
	}
	b.n, b.queries = int(*n), int(*queries)
	if !(f.NArg() > 0 || f.Changed("fingerprints") || f.Changed("queries") || f.Changed("rounds")) {
		b.limit = wholeLimit
	}
	return b, chosen, nil
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	b, chosen, err := parse(args, stdout, stderr)
	if err != nil {
		return fmt.Errorf("%w; run with --help for usage", err)
	}
	if b.labelled != "" {
		return writeLabelled(b.labelled)
	}
	if err := asm.Init(b.kernel); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(b.dir, "ndd-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	_, err = b.measure(ctx, chosen, stdout)
	return err
}

// measure runs benchmarks one after the other; text is printed as soon as there is some.
func (b *bench) measure(ctx context.Context, chosen []benchmark, stdout io.Writer) (results []*Result, err error) {
	b.say("measuring the machine")
	writeMachine(stdout)
	for i, t := range chosen {
		b.say("%d of %d, %s: %s", i+1, len(chosen), t.name, t.what)
		began := time.Now()
		result := &Result{Name: t.name}
		run := *b
		run.dir = filepath.Join(b.dir, t.name)
		if err := os.Mkdir(run.dir, 0o755); err != nil {
			return nil, err
		}
		if err := t.run(ctx, &run, result); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		if err := os.RemoveAll(run.dir); err != nil {
			return nil, err
		}
		results = append(results, result)
		fmt.Fprintf(stdout, "\n%s: %s (%.0f s)\n\n", t.name, t.what, time.Since(began).Seconds())
		if err := result.write(stdout); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// wholeLimit keeps a run of all benchmarks to six minutes at most on two processors with AVX-512.
const wholeLimit = 2 * time.Second

// choose returns the benchmarks with these names, each once. Without names it returns all benchmarks except those
// apart.
func choose(names []string) (chosen []benchmark, err error) {
	var known []string
	for _, t := range benchmarks {
		known = append(known, t.name)
		if len(names) == 0 && !t.apart || slices.Contains(names, t.name) {
			chosen = append(chosen, t)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(chosen, func(t benchmark) bool { return t.name == name }) {
			return nil, fmt.Errorf("there is no benchmark %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

// say logs the current step.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, "bench: "+format+"\n", args...)
}

// writeLabelled writes docs.jsonl and pairs.tsv of an invented set into a new folder.
func writeLabelled(dir string) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	set := invented.New(1)
	for name, write := range map[string]func(io.Writer) error{"docs.jsonl": set.WriteDocuments, "pairs.tsv": set.WritePairs} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if err := closing(f, write(f)); err != nil {
			return err
		}
	}
	return nil
}
