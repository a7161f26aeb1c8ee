// Command bench measures ndd on this machine, and verifies every answer that it measures.
//
//	go run ./bench                    every benchmark, at a size that takes some minutes
//	go run ./bench search insert      two of them
//	go run ./bench -n 100e6 search    with 100 million fingerprints
//	go run ./bench paper              the figures and tables of Manku, Jain and Das Sarma (WWW 2007)
//	go run ./bench --time 1h day      a server that is killed and started again, against a model
//	go run ./bench -n 2e9 size        as many fingerprints as fit in memory
//	go run ./bench --list             what there is
//
// A table is measured in rounds; each figure is the median, followed by the least and the
// greatest. Times that depend on memory stand beside the machine's own, measured in the same run,
// as a ratio. README.md of this folder says how, and what is left out.
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
	{name: "copies", what: "all pairs of copies, by documents and by terms, of a text for each hundred fingerprints", run: allCopies},
	{name: "copies-chinese", what: "the same of Chinese texts, whose sentences end with a full stop, by CCDet", run: chineseCopies},
	{name: "splits", what: "copies by 'ndd mapreduce', an index split by documents against one by terms: records, bytes, time", apart: true, run: splits},
	{name: "ingest", what: "documents to fingerprints, by format", run: ingestFormats},
	{name: "kept", what: "duplicates of a compressed file found and the rest written, beside reading and writing it back", apart: true, run: kept},
	{name: "insert", what: "check-and-insert one by one, in memory and durable", run: checkAndInsert},
	{name: "grow", what: "an index that is inserted into and merged: queries meanwhile, bytes written, room on the disk", run: grow},
	{name: "serve", what: "a server under load, closed and open, beside one that answers a constant", run: serve},
	{name: "footprint", what: "memory and processors of a server: idle, and asked for more than it could hold", run: footprint},
	{name: "day", what: "a server that is killed, stopped, merged and backed up while it is written to, for the time of --time, against a model", apart: true, run: day},
	{name: "size", what: "bytes, build and time of two tables, from a million fingerprints to as many as are asked for", run: size},
	{name: "mapped", what: "an index on disk of which no page is in memory: what a page fault costs", run: mapped},
	{name: "paper-1", what: "figure 1: precision and recall by distance", apart: true, run: figure1},
	{name: "paper-2", what: "figures 2a and 2b: how fingerprints are distributed", apart: true, run: figure2},
	{name: "paper-3.1", what: "section 3.1: designs of tables", apart: true, run: designs},
	{name: "paper-3.2", what: "section 3.2: compression to one half", apart: true, run: compression},
	{name: "paper-3.3", what: "section 3.3: a million queries against chunks of 64 MB", apart: true, run: mappers},
}

// A bench is the settings of a run.
type bench struct {
	n         int           // fingerprints
	queries   int           // in a batch
	rounds    int           // of each measurement
	lasts     time.Duration // of day
	pairs     string        // table of labelled pairs, of documents; "" for invented ones
	documents []string
	dir       string // for what is written; removed in the end
	log       io.Writer
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

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(stdout, "usage: go run ./bench [flags] [benchmark ...]\n\nMeasures ndd on this machine and verifies what it measures.\n\n%s\nBenchmarks:\n", f.FlagUsages())
		list(stdout)
	}
	n := f.Float64P("fingerprints", "n", 10e6, "number of fingerprints, such as 1e9")
	queries := f.Float64("queries", 1e6, "number of queries of a batch")
	rounds := f.Int("rounds", 5, "rounds of each measurement, of which the median is printed")
	lasts := f.Duration("time", time.Minute, "how long day lasts, at least")
	pairs := f.String("pairs", "", "paper-1: table of labelled pairs, as of ndd eval (default: invented texts with edited copies)")
	documents := f.StringArray("documents", nil, "paper-1: documents of the pairs: a file or folder; may be given more than once")
	asJSON := f.Bool("json", false, "print JSON")
	plots := f.String("plot", "", "write an SVG of each table into this folder")
	dir := f.String("dir", "", "folder for temporary files (default: the system's)")
	kernel := f.String("kernel", "", "instruction set to use: auto, avx512, avx2, neon or generic")
	listed := f.Bool("list", false, "list the benchmarks")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w; %w", err, errUsage)
	}
	if *listed {
		list(stdout)
		return nil
	}
	chosen, err := choose(f.Args())
	if err != nil {
		return err
	}
	if !(*n >= 1000 && *n <= most) || !(*queries >= 100 && *queries <= most) || *rounds < 1 { // nor what is no number
		return fmt.Errorf("at least 1,000 fingerprints, 100 queries and one round, and at most 1e12 of the first two; %w", errUsage)
	}
	if *lasts < 0 {
		return fmt.Errorf("--time %v: a day cannot last less than no time; %w", *lasts, errUsage)
	}
	if (*pairs == "") != (len(*documents) == 0) {
		return fmt.Errorf("--pairs and --documents belong together; %w", errUsage)
	}
	if *pairs != "" && !slices.ContainsFunc(chosen, func(t benchmark) bool { return t.name == "paper-1" }) {
		return fmt.Errorf("--pairs and --documents are for paper-1, which is not to be run; %w", errUsage)
	}
	if err := asm.Init(*kernel); err != nil {
		return err
	}
	if *plots != "" { // before what may take an hour
		if err := os.MkdirAll(*plots, 0o777); err != nil {
			return err
		}
	}
	temp, err := os.MkdirTemp(*dir, "ndd-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	b := &bench{n: int(*n), queries: int(*queries), rounds: *rounds, lasts: *lasts, pairs: *pairs, documents: *documents, dir: temp, log: stderr}
	report, err := b.measure(ctx, chosen, stdout, *asJSON)
	if err != nil {
		return err
	}
	if *plots != "" {
		return report.plot(*plots)
	}
	return nil
}

// measure runs benchmarks one after the other; text is printed as soon as there is some.
func (b *bench) measure(ctx context.Context, chosen []benchmark, stdout io.Writer, asJSON bool) (*Report, error) {
	fmt.Fprintln(b.log, "bench: measuring the machine")
	report := newReport()
	if !asJSON {
		report.Machine.write(stdout)
	}
	for _, t := range chosen {
		fmt.Fprintf(b.log, "bench: %s: %s\n", t.name, t.what)
		began := time.Now()
		result := &Result{Name: t.name, Title: t.what}
		if err := t.run(ctx, b, result); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		result.Seconds = time.Since(began).Seconds()
		report.Tables = append(report.Tables, result)
		if !asJSON {
			if err := result.write(stdout); err != nil {
				return nil, err
			}
		}
	}
	if asJSON {
		return report, report.writeJSON(stdout)
	}
	return report, nil
}

// choose returns the benchmarks with these names, or names that begin with them and a dash, each once; all but those apart when there are none.
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

// say tells what is being done.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, "bench:   "+format+"\n", args...)
}

// folder makes a folder for a table's files, and returns it with what removes it.
func (b *bench) folder(name string) (string, func(), error) {
	dir, err := os.MkdirTemp(b.dir, filepath.Base(name)+"-")
	return dir, func() { os.RemoveAll(dir) }, err
}
