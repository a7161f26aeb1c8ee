package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/cpuid/v2"

	"example.org/ndd/asm"
	"example.org/ndd/engine/index/plan"
	"example.org/ndd/engine/memory"
	"example.org/ndd/numa"
)

// writeMachine writes a description of the machine.
func writeMachine(w io.Writer) {
	version := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	if version == "(devel)" { // version of a program that go run built
		if out, err := exec.Command("git", "describe", "--always", "--dirty").Output(); err == nil {
			version = strings.TrimSpace(string(out))
		}
	}
	size := func(bytes int) string { return humanize.IBytes(uint64(max(0, bytes))) }
	fmt.Fprintf(w, "ndd %s, %s, %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(w, "%s, %d threads, kernels %s, caches %s and %s\n", strings.TrimSpace(cpuid.CPU.BrandName),
		runtime.GOMAXPROCS(0), asm.Backend(), size(cpuid.CPU.Cache.L2), size(cpuid.CPU.Cache.L3))
	fmt.Fprintf(w, "memory: %v, %s may be used, pages of %s\n", numa.New(numa.Options{}).Topology(),
		humanize.IBytes(memory.Machine{}.Limit(0).Bytes), size(os.Getpagesize()))
	fmt.Fprintf(w, "memory, one thread: dependent miss %.0f ns, independent miss %.1f ns\n", machine().dependent, machine().independent)
}

// misses are the times of cache misses of one thread in nanoseconds.
type misses struct {
	independent float64 // time per miss if the addresses are known in advance
	dependent   float64 // latency of a miss whose address comes from the previous miss
}

// machine measures once a run.
var machine = sync.OnceValue(func() (m misses) {
	measured, err := plan.Measure(math.MaxUint64)
	if err == nil {
		m.independent, m.dependent = measured.Misses()
	}
	return m
})

// A Result has the measurements of a benchmark.
type Result struct {
	Name    string
	Columns []string // names of the columns, with units
	Rows    []Row
	Notes   []string // how the answers were verified, and what to keep in mind
}

// A Row is one line of a table. Its cells are numbers, words, and a [Cell] for a measurement in rounds.
type Row struct {
	Name  string
	Cells []any
}

// row adds a row; columns without a cell were not measured.
func (r *Result) row(name string, cells ...any) {
	for len(cells) < len(r.Columns) {
		cells = append(cells, math.NaN())
	}
	r.Rows = append(r.Rows, Row{name, cells})
}

func (r *Result) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

func (r *Result) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\t%s\n", strings.Join(r.Columns, "\t"))
	for _, row := range r.Rows {
		fmt.Fprint(t, row.Name)
		for _, c := range row.Cells {
			switch v := c.(type) {
			case float64:
				c = short(v)
			case int:
				c = short(float64(v))
			}
			fmt.Fprintf(t, "\t%v", c)
		}
		fmt.Fprintln(t)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(t, "  %s\n", n)
	}
	return t.Flush()
}

// A Cell is the median of rounds, with the minimum and the maximum.
type Cell struct {
	Value, Min, Max float64
	Rounds          int
}

// median returns the cell of some values.
func median(values []float64) Cell {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	return Cell{Value: (values[(n-1)/2] + values[n/2]) / 2, Min: values[0], Max: values[n-1], Rounds: n}
}

// scale returns the cell with another unit.
func (c Cell) scale(factor float64) Cell {
	return Cell{c.Value * factor, c.Min * factor, c.Max * factor, c.Rounds}
}

// rate returns amount divided by the cell's value: a time becomes a rate.
func (c Cell) rate(amount float64) Cell {
	return Cell{amount / c.Value, amount / c.Max, amount / c.Min, c.Rounds}
}

func (c Cell) String() string {
	if c.Rounds > 1 {
		return fmt.Sprintf("%s (%s-%s)", short(c.Value), short(c.Min), short(c.Max))
	}
	return short(c.Value)
}

// short formats a number with three significant digits and separated thousands, or a dash if there was nothing to
// measure.
func short(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "-"
	case v == math.Trunc(v) && a < 1e15, a >= 100:
		return humanize.Comma(int64(math.Round(v)))
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// turns calls yield for each round of a measurement: b.rounds times, or at least once and until b.limit is over.
func (b *bench) turns(yield func() bool) {
	began := time.Now()
	for i := 0; i < b.rounds && (i == 0 || b.limit == 0 || time.Since(began) < b.limit) && yield(); i++ {
	}
}

// repeat measures f in rounds and returns its seconds as a cell. The first error ends it.
func (b *bench) repeat(f func() error) (Cell, error) {
	var seconds []float64
	for range b.turns {
		began := time.Now()
		if err := f(); err != nil {
			return Cell{}, err
		}
		seconds = append(seconds, time.Since(began).Seconds())
	}
	return median(seconds), nil
}

// byThreads measures f with one thread, and with all (0).
func (b *bench) byThreads(f func(threads int) error) (times [2]Cell, err error) {
	for i, threads := range []int{1, 0} {
		if times[i], err = b.repeat(func() error { return f(threads) }); err != nil {
			return times, err
		}
	}
	return times, nil
}
