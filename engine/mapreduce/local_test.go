package mapreduce_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/ndd/engine/mapreduce"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// A localCluster runs jobs on one machine like a framework, in the most difficult ways that are allowed: maps in any
// order, killed and repeated attempts, and values of a key in any order.
type localCluster struct {
	t        *testing.T
	rng      *rand.Rand
	splits   int
	reduces  int
	options  mapreduce.Options
	shuffled int // bytes of the last shuffle
}

func newLocal(t *testing.T, splits int, seed uint64) *localCluster {
	return &localCluster{t: t, rng: rand.New(rand.NewPCG(seed, uint64(splits))), splits: splits, reduces: min(splits, 7),
		options: mapreduce.Options{Partitions: 64, MaxBad: 0}}
}

// cut cuts lines into parts at random: some may be empty.
func (l *localCluster) cut(input string) []string {
	lines := slices.Collect(strings.Lines(input))
	ends := []int{len(lines)}
	for range l.splits - 1 {
		ends = append(ends, l.rng.IntN(len(lines)+1))
	}
	slices.Sort(ends)
	parts, from := make([]string, 0, l.splits), 0
	for _, end := range ends {
		parts = append(parts, strings.Join(lines[from:end], ""))
		from = end
	}
	return parts
}

var errKilled = errors.New("killed")

// A limitedWriter fails after some bytes.
type limitedWriter struct{ bytesLeft int }

func (d *limitedWriter) Write(p []byte) (int, error) {
	if d.bytesLeft -= len(p); d.bytesLeft < 0 {
		return 0, errKilled
	}
	return len(p), nil
}

// attempt runs a step until an attempt is not killed. Sometimes it runs another attempt concurrently, which must write
// the same.
func (l *localCluster) attempt(input string, step func(context.Context, mapreduce.Options) error) string {
	l.t.Helper()
	o := l.options
	if l.rng.IntN(4) == 0 {
		o.In, o.Out = strings.NewReader(input), &limitedWriter{l.rng.IntN(200)}
		if err := step(l.t.Context(), o); err != nil && !errors.Is(err, errKilled) {
			l.t.Fatal(err)
		}
	}
	var out [2]bytes.Buffer
	for i := range 1 + l.rng.IntN(2) {
		o.In, o.Out = strings.NewReader(input), &out[i]
		if err := step(l.t.Context(), o); err != nil {
			l.t.Fatal(err)
		}
	}
	if out[1].Len() > 0 && out[0].String() != out[1].String() {
		l.t.Fatalf("two attempts at a part write\n%.300s\nand\n%.300s", &out[0], &out[1])
	}
	return out[0].String()
}

func keyOf(line string) string {
	key, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
	return key
}

// shuffle deals a map's output into the reduces' inputs.
func (l *localCluster) shuffle(out string, to [][]string) {
	l.t.Helper()
	for line := range strings.Lines(out) {
		if n := strings.Count(line, "\t"); n != 1 {
			l.t.Fatalf("%d tabs in %q", n, line)
		}
		p := (int(line[0])*64 + int(line[1])) % len(to)
		to[p] = append(to[p], line)
	}
}

// run runs all tasks of a job, and returns the concatenated output of the reduces.
func (l *localCluster) run(job mapreduce.Mapper, parts []string) string {
	l.t.Helper()
	outs := make([]string, len(parts))
	for _, i := range l.rng.Perm(len(parts)) {
		outs[i] = l.attempt(parts[i], mapOf(job))
	}
	reducer, ok := job.(mapreduce.Reducer)
	if !ok {
		return strings.Join(outs, "")
	}
	inputs := make([][]string, l.reduces)
	for _, out := range outs {
		l.shuffle(out, inputs)
	}
	var results strings.Builder
	l.shuffled = 0
	for _, i := range l.rng.Perm(len(inputs)) {
		lines := inputs[i] // values come in the order of the keys; values of one key come in any order
		l.rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(keyOf(a), keyOf(b)) })
		input := strings.Join(lines, "")
		l.shuffled += len(input)
		results.WriteString(l.attempt(input, func(ctx context.Context, o mapreduce.Options) error {
			o.Parts = len(parts)
			return mapreduce.Reduce(ctx, reducer, o)
		}))
	}
	return results.String()
}

// collect checks results and returns them as sorted lines.
func (l *localCluster) collect(results string, tasks int) []string {
	l.t.Helper()
	var out bytes.Buffer
	o := l.options
	o.In, o.Out, o.Parts = strings.NewReader(results), &out, tasks
	must.Do(l.t, mapreduce.Collect(l.t.Context(), o))
	return sortedLines(out.String())
}

func sortedLines(text string) []string { return slices.Sorted(strings.Lines(text)) }

// requireSame compares sorted lines.
func requireSame(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: %d lines, want %d: %.2000s", what, len(got), len(want), cmp.Diff(want, got))
	}
}

// splits are the numbers of parts that every job is tried with.
var splits = []int{1, 2, 7, 100}

// step runs one step on an input and returns its output.
func step(t *testing.T, f func(context.Context, mapreduce.Options) error, input string,
	change func(*mapreduce.Options)) (string, error) {
	t.Helper()
	var out bytes.Buffer
	o := mapreduce.Options{In: strings.NewReader(input), Out: &out, Partitions: 64}
	if change != nil {
		change(&o)
	}
	err := f(t.Context(), o)
	return out.String(), err
}

func mapOf(j mapreduce.Mapper) func(context.Context, mapreduce.Options) error {
	return func(ctx context.Context, o mapreduce.Options) error { return mapreduce.Map(ctx, j, o) }
}

func reduceOf(j mapreduce.Reducer) func(context.Context, mapreduce.Options) error {
	return func(ctx context.Context, o mapreduce.Options) error { return mapreduce.Reduce(ctx, j, o) }
}

// runMap returns the output of a map.
func runMap(t *testing.T, j mapreduce.Mapper, input string) string {
	t.Helper()
	out, err := step(t, mapOf(j), input, nil)
	if err != nil {
		t.Fatalf("%T: %v", j, err)
	}
	return out
}

// runReduce returns the output of a reduce of a map's output.
func runReduce(t *testing.T, j mapreduce.Mapper, mapped string) string {
	t.Helper()
	out, err := step(t, reduceOf(j.(mapreduce.Reducer)), sorted(mapped), nil)
	if err != nil {
		t.Fatalf("%T: %v", j, err)
	}
	return out
}

// sorted sorts lines as LC_ALL=C sort does.
func sorted(lines string) string { return strings.Join(sortedLines(lines), "") }

// fingerprintLines are fingerprints as the job fingerprint writes them, their rows as IDs.
func fingerprintLines(fingerprints []uint64) string {
	var b strings.Builder
	for i, f := range fingerprints {
		fmt.Fprintf(&b, "%016x\t%06d %d\n", f, i, 100+i%7)
	}
	return b.String()
}
