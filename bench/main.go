// Command bench measures ndd on this machine, and verifies every answer that it measures.
//
//	go run ./bench                    every benchmark, at sizes that take up to six minutes
//	go run ./bench search insert      two of them
//	go run ./bench -n 100e6 search    with 100 million fingerprints
//	go run ./bench paper              the figures and tables of Manku, Jain and Das Sarma (WWW 2007)
//	go run ./bench -n 2e9 size        as many fingerprints as fit in memory
//	go run ./bench -n 8e9 disk        eight billion in a file, then in an index, 68 GB of disk
//	go run ./bench --list             what there is
//
// A table is measured in rounds; each figure is the median, followed by the least and the
// greatest. Times that depend on memory stand beside the machine's own, measured in the same run,
// as a ratio. README.md of this folder describes the methods.
//
// The benchmarks of single kernels are tests of this package: go test -bench . ./bench
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

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"ndd/asm"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// A benchmark is one thing that is measured, and gives one table.
type benchmark struct {
	name  string
	what  string // one line of --list
	apart bool   // run only when it is named: it is long, or needs much memory
	run   func(ctx context.Context, b *bench, r *Result) error
}

// benchmarks are those that there are, in the order of a run.
var benchmarks = []benchmark{
	{name: "search", what: "queries online and in batches, bytes and build, by design of tables", run: search},
	{name: "scan", what: "a batch of queries against fingerprints without an index", run: scanQueries},
	{name: "join", what: "all near pairs of a corpus, and its clusters", run: join},
	{name: "copies", what: "all pairs of copies, by documents and by terms, of a text for each hundred fingerprints",
		run: copiesOf(newEdited)},
	{name: "copies-chinese", what: "the same of Chinese texts, whose sentences end with a full stop, by CCDet",
		run: copiesOf(newChineseEdited)},
	{name: "passages", what: "repeated lines, and strings of 100 bytes, in text with planted repeats, 100 bytes for each " +
		"fingerprint", apart: true, run: repeatedPassages},
	{name: "ingest", what: "documents to fingerprints, by format", run: ingestFormats},
	{name: "corpus", what: "a corpus without its near-duplicates, by format and number of files, with one thread and two",
		run: dedupCorpus},
	{name: "insert", what: "check-and-insert one by one, in memory and durable", run: checkAndInsert},
	{name: "serve", what: "a server under load, closed and open, beside one that answers a constant", run: serve},
	{name: "size", what: "bytes, build and time of two tables, from a million fingerprints to as many as are asked " +
		"for", run: size},
	{name: "disk-file", what: "a batch of queries against a file of fingerprints, which may be larger than memory",
		apart: true, run: scanDisk},
	{name: "disk-index", what: "the same against an index in files, built in pieces, which may be larger than memory",
		apart: true, run: indexDisk},
	{name: "paper-1", what: "figure 1: precision and recall by distance", apart: true, run: figure1},
	{name: "paper-2", what: "figures 2a and 2b: how fingerprints are distributed", apart: true, run: figure2},
	{name: "paper-3.1", what: "section 3.1: designs of tables", apart: true, run: designs},
	{name: "paper-3.2", what: "section 3.2: compression to one half", apart: true, run: compression},
	{name: "paper-3.3", what: "section 3.3: a million queries against chunks of 64 MB", apart: true, run: mappers},
}

// A bench is the settings of a run.
type bench struct {
	n       int           // fingerprints
	queries int           // in a batch
	rounds  int           // of each measurement,
	limit   time.Duration // after which it has no further one; 0: none
	dir     string        // for files of the benchmark; removed after it
	log     io.Writer
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
	if errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

var errUsage = errors.New("run with --help for usage")

// most is how many fingerprints or queries may be asked for: more than any memory holds.
const most = 1e12

// An invocation is a parsed command line.
type invocation struct {
	bench
	chosen []benchmark
	listed bool
	sized  bool   // by the command line, not by the machine
	plots  string // folder for figures
	kernel string
}

// parse parses and checks a command line.
func parse(args []string, stdout, stderr io.Writer) (*invocation, error) {
	v := &invocation{bench: bench{log: stderr}}
	f := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(stdout, "usage: go run ./bench [flags] [benchmark ...]\n\nMeasures ndd on this machine and verifies "+
			"what it measures.\n\n%s\nBenchmarks:\n", f.FlagUsages())
		list(stdout)
	}
	n := f.Float64P("fingerprints", "n", 10e6, "number of fingerprints, such as 1e9; a run of all benchmarks has fewer "+
		"on a slow machine")
	queries := f.Float64("queries", 1e6, "number of queries of a batch")
	f.IntVar(&v.rounds, "rounds", 5, "rounds of each measurement, of which the median is printed; a run of all "+
		"benchmarks has fewer of what takes seconds")
	f.StringVar(&v.plots, "plot", "", "write the figures of the paper as SVG into this folder")
	f.StringVar(&v.dir, "dir", "", "folder for temporary files (default: the system's)")
	f.StringVar(&v.kernel, "kernel", "", "instruction set to use: auto, avx512, avx2, neon or generic")
	f.BoolVar(&v.listed, "list", false, "list the benchmarks")
	err := f.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w; %w", err, errUsage)
	}
	if v.chosen, err = choose(f.Args()); err != nil {
		return nil, err
	}
	if !(*n >= 1000 && *n <= most) || !(*queries >= 100 && *queries <= most) || v.rounds < 1 { // also NaN
		return nil, fmt.Errorf("at least 1,000 fingerprints, 100 queries and one round, and at most 1e12 of the first "+
			"two; %w", errUsage)
	}
	v.n, v.queries = int(*n), int(*queries)
	v.sized = f.NArg() > 0 || f.Changed("fingerprints") || f.Changed("queries") || f.Changed("rounds")
	return v, nil
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	v, err := parse(args, stdout, stderr)
	if err != nil {
		return err
	}
	if v.listed {
		list(stdout)
		return nil
	}
	if err := asm.Init(v.kernel); err != nil {
		return err
	}
	if v.plots != "" { // before what may take an hour
		if err := os.MkdirAll(v.plots, 0o777); err != nil {
			return err
		}
	}
	if v.dir, err = os.MkdirTemp(v.dir, "ndd-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(v.dir)
	report, err := v.measure(ctx, stdout)
	if err != nil || v.plots == "" {
		return err
	}
	return report.plot(v.plots)
}

// measure runs benchmarks one after the other; text is printed as soon as there is some.
func (v *invocation) measure(ctx context.Context, stdout io.Writer) (*Report, error) {
	b := &v.bench
	fmt.Fprintln(b.log, "bench: measuring the machine")
	report := newReport()
	report.Machine.write(stdout)
	if !v.sized {
		b.size(&report.Machine)
	}
	for i, t := range v.chosen {
		fmt.Fprintf(b.log, "bench: %d of %d, %s: %s\n", i+1, len(v.chosen), t.name, t.what)
		began := time.Now()
		result := &Result{Name: t.name, Title: t.what}
		own := *b
		own.dir = filepath.Join(b.dir, t.name)
		err := os.Mkdir(own.dir, 0o755)
		if err == nil {
			err = t.run(ctx, &own, result)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		if err := os.RemoveAll(own.dir); err != nil {
			return nil, err
		}
		result.Seconds = time.Since(began).Seconds()
		report.Tables = append(report.Tables, result)
		if err := result.write(stdout); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// wholeLimit and the sizes that a machine is given are such that a run of all benchmarks should take six
// minutes at most on two processors: 190 s of processor time at half the size, with AVX-512.
const wholeLimit = 2 * time.Second

// size has a run of all benchmarks take minutes, whatever the machine.
func (b *bench) size(m *Machine) {
	b.limit = wholeLimit
	if m.Memory.DependentNs > 300 {
		b.n, b.queries = b.n/2, b.queries/2
	}
	if m.Kernel == "avx2" || m.Kernel == "generic" {
		b.n, b.queries = b.n/2, b.queries/2
	}
	b.say("%s fingerprints and %s queries, by the machine; a measurement has rounds for %v", humanize.Comma(int64(b.n)),
		humanize.Comma(int64(b.queries)), b.limit)
}

// choose returns the benchmarks with these names, or names that begin with them and a dash, each
// once; all but those apart when there are none.
func choose(names []string) (chosen []benchmark, err error) {
	for _, name := range names {
		matched := false
		for _, t := range benchmarks {
			if t.name != name && !strings.HasPrefix(t.name, name+"-") {
				continue
			}
			matched = true
			if !slices.ContainsFunc(chosen, func(c benchmark) bool { return c.name == t.name }) {
				chosen = append(chosen, t)
			}
		}
		if !matched {
			return nil, fmt.Errorf("there is no benchmark %q; there are %s; %w", name, strings.Join(known(), ", "), errUsage)
		}
	}
	if len(names) == 0 {
		chosen = slices.DeleteFunc(slices.Clone(benchmarks), func(t benchmark) bool { return t.apart })
	}
	return chosen, nil
}

func known() (names []string) {
	for _, t := range benchmarks {
		names = append(names, t.name)
	}
	return names
}

func list(w io.Writer) {
	for _, t := range benchmarks {
		apart := ""
		if t.apart {
			apart = " (only when named)"
		}
		fmt.Fprintf(w, "  %-14s %s%s\n", t.name, t.what, apart)
	}
}

// say logs the current step.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, "bench:   "+format+"\n", args...)
}
