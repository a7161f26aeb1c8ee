package dedup_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ndd/engine"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/near/dedup"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/permute"
)

// TestExact holds all that a result says against its definition, worked out by comparing all with
// all: on sets of every shape, with chains and with stars, against nothing and against an index, by
// order and by a field, whatever the threads and the memory for an index's answers.
func TestExact(t *testing.T) {
	const n, k = 300, 3
	fields, err := dedup.ParseKeep("score")
	must.Do(t, err)
	dropped, left := 0, 0
	for _, set := range sets.All(n, n, k, 99) {
		rng := rand.New(rand.NewPCG(1, 2))
		scores := make([]int, len(set.Queries))
		prints := slices.Clone(set.Queries)
		for i := range scores {
			if scores[i] = rng.IntN(9); i%3 == 1 { // near another new one, too
				prints[i] = sets.Near(rng, prints[i-1], rng.IntN(k+1))
			}
		}
		index := indexOf(t, set.Base)
		for _, keep := range []dedup.Keep{{}, fields} {
			for mode := range 4 {
				e := exact{prints: prints, k: k, star: mode&1 > 0}
				if mode > 1 {
					e.old = set.Base
				}
				if len(keep) > 0 {
					e.scores = scores
				}
				want := e.result()
				dropped += strings.Count(want, "goes")
				if e.old != nil {
					left += strings.Count(want, "cluster")
				}
				for _, threads := range []int{1, 3} {
					for _, memory := range []uint64{0, 1} {
						if e.old == nil && memory > 0 {
							continue
						}
						o := dedup.Options{K: k, Chains: !e.star}
						if e.old != nil && index != nil {
							o.Known = asking(index, engine.BatchOptions{K: k, Docs: 1, Threads: threads, MatchBytes: memory})
						}
						if got := resultOf(t, prints, scores, dedup.ReadOptions{Keep: keep, Threads: threads}, o); got != want {
							t.Errorf("%s, star %v, against %d, keep %s, %d threads, memory %d: got\n%s\nwant\n%s",
								set.Name, e.star, len(e.old), keep, threads, memory, got, want)
						}
					}
				}
			}
		}
	}
	if dropped < 1000 || left < 100 {
		t.Errorf("only %d documents could go in all, %d clusters of those that an index does not have", dropped, left)
	}
}

// exact is a task and its solution by definition.
type exact struct {
	prints, old []uint64
	scores      []int // nil to keep the first
	k           int
	star        bool
}

// result says what goes and what stays, as resultOf does.
func (e *exact) result() string {
	var out strings.Builder
	gone := make([]bool, len(e.prints))
	goes := func(row int, kept string, distance int) {
		gone[row] = true
		fmt.Fprintf(&out, "%d goes for %s at %d\n", row, kept, distance)
	}
	// What is known goes for the nearest, of these the least fingerprint, of those the first
	// document.
	for row, f := range e.prints {
		best := -1
		for i, o := range e.old {
			if d := bits.OnesCount64(f ^ o); d <= e.k && (best < 0 ||
				cmp.Or(cmp.Compare(d, bits.OnesCount64(f^e.old[best])), cmp.Compare(o, e.old[best])) < 0) {
				best = i
			}
		}
		if best >= 0 {
			goes(row, fmt.Sprint("old ", best), bits.OnesCount64(f^e.old[best]))
		}
	}
	var rows []int // by preference
	for row := range e.prints {
		if !gone[row] {
			rows = append(rows, row)
		}
	}
	if e.scores != nil {
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(e.scores[b], e.scores[a]) })
	}
	clusters := map[int][]int{} // by least row
	kept := map[int]int{}
	seen := slices.Clone(gone)
	for _, row := range rows {
		if seen[row] {
			continue
		}
		seen[row] = true
		members := []int{row}
		for i := 0; i < len(members) && (i == 0 || !e.star); i++ {
			for other := range e.prints {
				if !seen[other] && e.distance(members[i], other) <= e.k {
					seen[other] = true
					members = append(members, other)
				}
			}
		}
		least := slices.Min(members)
		kept[least] = row
		slices.Sort(members)
		clusters[least] = members
	}
	number := 0
	for first := range e.prints {
		members := clusters[first]
		if len(members) < 2 {
			continue
		}
		number++
		for _, row := range members {
			if row != kept[first] {
				goes(row, fmt.Sprint("new ", kept[first]), e.distance(row, kept[first]))
			}
		}
		fmt.Fprintf(&out, "cluster %d: %d\n", number, members)
	}
	for row := range gone {
		if !gone[row] {
			fmt.Fprintln(&out, row, "stays")
		}
	}
	return sorted(out.String())
}

func (e *exact) distance(a, b int) int { return bits.OnesCount64(e.prints[a] ^ e.prints[b]) }

// resultOf is what Find says.
func resultOf(t *testing.T, prints []uint64, scores []int, read dedup.ReadOptions, o dedup.Options) string {
	t.Helper()
	c := dedup.NewCorpus(nil, read)
	for i, f := range prints {
		d := dedup.Document{ID: fmt.Sprint("new ", i), Fingerprint: simhash.Fingerprint(f),
			Values: []document.Value{{Text: fmt.Sprint(scores[i]), Found: true}}}
		must.Do(t, c.Append(d))
	}
	r, err := dedup.Find(t.Context(), c, o)
	must.Do(t, err)
	var out strings.Builder
	for d := range r.Dropped() {
		fmt.Fprintf(&out, "%d goes for %s at %d\n", d.Row, d.Kept, d.Distance)
	}
	for cl := range r.Clusters() {
		fmt.Fprintf(&out, "cluster %d: %d\n", cl.Number, cl.Rows)
	}
	for d := range r.Kept() {
		fmt.Fprintln(&out, strings.TrimPrefix(d.ID, "new "), "stays")
	}
	return sorted(out.String())
}

func sorted(lines string) string {
	list := strings.Split(lines, "\n")
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// indexOf is an index of fingerprints, nil if there are none.
func indexOf(t *testing.T, base []uint64) *engine.Index {
	t.Helper()
	if len(base) == 0 {
		return nil
	}
	dir := t.TempDir()
	var raw []byte
	for _, f := range base {
		raw = binary.LittleEndian.AppendUint64(raw, f)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "old.bin"), raw, 0o644))
	file, err := ndf.Open(filepath.Join(dir, "old.bin"))
	must.Do(t, err)
	defer file.Close()
	design, err := permute.Named("halves", 3, 1)
	must.Do(t, err)
	if err := engine.Build(t.Context(), filepath.Join(dir, "index"), []*ndf.File{file},
		engine.BuildOptions{Options: segment.Options{Design: design}}); err != nil {
		t.Fatal(err)
	}
	x, err := engine.Open(t.Context(), filepath.Join(dir, "index"), engine.OpenOptions{})
	must.Do(t, err)
	t.Cleanup(func() { x.Close() })
	return x
}

// asking looks fingerprints up in an index.
func asking(x *engine.Index, o engine.BatchOptions) func(context.Context, []uint64) ([]dedup.Drop, error) {
	return func(ctx context.Context, prints []uint64) (list []dedup.Drop, err error) {
		err = x.Batch(ctx, simhash.Fingerprints(prints), o, func(row int, hits []engine.Hit) error {
			list = append(list, dedup.Drop{Row: dedup.Row(row), Kept: fmt.Sprint("old ", hits[0].Docs[0]),
				Distance: hits[0].Distance})
			return nil
		})
		return list, err
	}
}
