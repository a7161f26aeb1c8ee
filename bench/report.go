package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/cpuid/v2"

	"ndd/asm"
	"ndd/engine/memory"
	"ndd/numa"
)

// A Report is a run.
type Report struct {
	Machine Machine
	Tables  []*Result
}

// A Machine is what the figures were measured on.
type Machine struct {
	Version   string // of ndd: the commit
	Go        string
	OS        string
	Arch      string
	Processor string
	Cores     int
	L2Bytes   int
	L3Bytes   int
	Kernel    string
	Nodes     string
	PageBytes int
	Memory    memoryFigures // one thread
	Limit     uint64
}

func newReport() *Report {
	m := Machine{
		Version: "(unknown)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Processor: strings.TrimSpace(cpuid.CPU.BrandName), Cores: runtime.GOMAXPROCS(0),
		L2Bytes: cpuid.CPU.Cache.L2, L3Bytes: cpuid.CPU.Cache.L3,
		Kernel: asm.Backend(), Nodes: fmt.Sprint(numa.New(numa.Options{}).Topology()), PageBytes: os.Getpagesize(),
		Limit:  memory.Machine{}.Limit(0).Bytes,
		Memory: machineMemory(),
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		m.Version = info.Main.Version
	}
	if m.Version == "(devel)" { // as go run leaves it
		if out, err := exec.Command("git", "describe", "--always", "--dirty").Output(); err == nil {
			m.Version = strings.TrimSpace(string(out))
		}
	}
	return &Report{Machine: m}
}

func (m *Machine) write(w io.Writer) {
	fmt.Fprintf(w, "ndd %s, %s, %s/%s\n", m.Version, m.Go, m.OS, m.Arch)
	fmt.Fprintf(w, "%s, %d threads, kernels %s, caches %s and %s\n", m.Processor, m.Cores, m.Kernel,
		humanize.IBytes(uint64(max(0, m.L2Bytes))), humanize.IBytes(uint64(max(0, m.L3Bytes))))
	fmt.Fprintf(w, "memory: %s, of which %s may be used, pages of %s\n", m.Nodes, humanize.IBytes(m.Limit),
		humanize.IBytes(uint64(m.PageBytes)))
	fmt.Fprintf(w, "memory, one thread: %v\n", m.Memory)
}

// A Result is what a table's run found.
type Result struct {
	Name    string
	Title   string
	Columns []string // what the cells of a row are, with units
	Rows    []Row
	Notes   []string // how the answers were verified, and what to keep in mind
	Seconds float64  // the whole run of the table, with what is not measured

	charts []chart
}

// A Row is one line of a table.
type Row struct {
	Name  string
	Cells []Cell
}

// A Cell is a figure: the median of its rounds with the least and the greatest, one number, or a
// word.
type Cell struct {
	Value  float64
	Least  float64
	Most   float64
	Text   string // instead of a number
	Rounds int
}

// chart is a picture of a table.
type chart struct {
	name string
	svg  io.WriterTo
}

func (r *Result) row(name string, cells ...Cell) { r.Rows = append(r.Rows, Row{name, cells}) }

func (r *Result) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

func (r *Result) chart(name string, svg io.WriterTo) { r.charts = append(r.charts, chart{name, svg}) }

// number returns a cell of one value: a dash where there was nothing to measure.
func number(v float64) Cell {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return word("-")
	}
	return Cell{Value: v}
}

// word returns a cell with a word.
func word(s string) Cell { return Cell{Text: s} }

// scale returns the cell with another unit.
func (c Cell) scale(by float64) Cell {
	c.Value, c.Least, c.Most = c.Value*by, c.Least*by, c.Most*by
	return c
}

// rate returns amount divided by the cell's value: a time becomes a rate.
func (c Cell) rate(amount float64) Cell {
	return Cell{Value: amount / c.Value, Least: amount / c.Most, Most: amount / c.Least, Rounds: c.Rounds}
}

func (c Cell) String() string {
	switch {
	case c.Text != "":
		return c.Text
	case c.Rounds > 1:
		return fmt.Sprintf("%s (%s-%s)", short(c.Value), short(c.Least), short(c.Most))
	}
	return short(c.Value)
}

// short writes a number with three digits that matter, and thousands apart.
func short(v float64) string {
	a := math.Abs(v)
	switch {
	case v == math.Trunc(v) && a < 1e15, a >= 100:
		return humanize.Comma(int64(math.Round(v)))
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

func (r *Result) write(w io.Writer) error {
	fmt.Fprintf(w, "\n%s: %s (%.0f s)\n\n", r.Name, r.Title, r.Seconds)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\t%s\n", strings.Join(r.Columns, "\t"))
	for _, row := range r.Rows {
		fmt.Fprint(t, row.Name)
		for _, c := range row.Cells {
			fmt.Fprintf(t, "\t%v", c)
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "  %s\n", n)
	}
	return nil
}

// plot writes the charts of all tables into a folder that is there.
func (r *Report) plot(dir string) error {
	for _, t := range r.Tables {
		for _, c := range t.charts {
			f, err := os.Create(filepath.Join(dir, c.name+".svg"))
			if err != nil {
				return err
			}
			_, err = c.svg.WriteTo(f)
			if err := closing(f, err); err != nil {
				return err
			}
		}
	}
	return nil
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

// once measures f once.
func once(f func() error) (Cell, error) {
	b := bench{rounds: 1}
	return b.repeat(f)
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

// median returns a cell of the median of values, with the least and the greatest.
func median(values []float64) Cell {
	values = slices.Sorted(slices.Values(values)) // which a chart may have in their order
	n := len(values)
	return Cell{Value: (values[(n-1)/2] + values[n/2]) / 2, Least: values[0], Most: values[n-1], Rounds: n}
}
