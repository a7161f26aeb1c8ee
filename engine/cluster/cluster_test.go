package cluster

import (
	"context"
	"errors"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"ndd/engine/oracle"
	"ndd/engine/oracle/sets"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestJoin holds the pairs of sets of every shape against brute force.
func TestJoin(t *testing.T) {
	for k := 0; k <= 6; k++ {
		for _, set := range sets.All(700, 0, k, uint64(k)) {
			distinct := slices.Clone(set.Base)
			slices.Sort(distinct)
			distinct = slices.Compact(distinct)
			want := oracle.Pairs(distinct, k)
			for _, threads := range []int{1, 3} {
				var got []oracle.Pair
				err := Join(context.Background(), distinct, Choose(len(distinct), k), threads, func(a, b uint64) {
					got = append(got, oracle.Pair{A: int(a), B: int(b)})
				})
				slices.SortFunc(got, func(x, y oracle.Pair) int { return (x.A-y.A)*len(distinct) + x.B - y.B })
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("k=%d, %s, %d threads: %d pairs, want %d; %v", k, set.Name, threads, len(got), len(want), err)
				}
			}
		}
	}
}

// TestFind holds clusters against the components of brute force's pairs,
// found by walking the graph.
func TestFind(t *testing.T) {
	for k := 0; k <= 4; k++ {
		for _, set := range sets.All(500, 0, k, uint64(k)+10) {
			near := make([][]int, len(set.Base))
			for _, p := range oracle.Pairs(set.Base, k) {
				near[p.A] = append(near[p.A], p.B)
				near[p.B] = append(near[p.B], p.A)
			}
			var want []Cluster
			seen := make([]bool, len(set.Base))
			for row := range set.Base {
				if seen[row] || len(near[row]) == 0 {
					continue
				}
				var c Cluster
				for todo := []int{row}; len(todo) > 0; {
					r := todo[0]
					todo = todo[1:]
					if seen[r] {
						continue
					}
					seen[r] = true
					c.Rows = append(c.Rows, r)
					todo = append(todo, near[r]...)
				}
				slices.Sort(c.Rows)
				for _, r := range c.Rows {
					c.Distances = append(c.Distances, bits.OnesCount64(set.Base[r]^set.Base[row]))
				}
				want = append(want, c)
			}
			for _, threads := range []int{1, 4} {
				r, err := Find(context.Background(), set.Base, k, threads)
				if err != nil || !reflect.DeepEqual(r.Clusters, want) {
					t.Fatalf("k=%d, %s, %d threads: %d clusters, want %d; %v", k, set.Name, threads, len(r.Clusters), len(want), err)
				}
			}
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Find(ctx, []uint64{1, 2, 3}, 3, 1); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func BenchmarkFind(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	prints := make([]uint64, 1_000_000)
	for i := range prints {
		prints[i] = rng.Uint64()
	}
	for b.Loop() {
		r, err := Find(context.Background(), prints, 3, 1)
		if err != nil || r.Distinct != len(prints) {
			b.Fatal(r, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(prints)), "ns/fingerprint")
}
