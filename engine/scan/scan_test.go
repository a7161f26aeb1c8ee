package scan

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"ndd/engine/oracle"
	"ndd/engine/oracle/sets"
	"ndd/engine/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answer maps chunks of a size, in any order and the last one twice, and
// reduces.
func answer(t testing.TB, base, queries []uint64, k, chunk int) (hits []oracle.Hit) {
	t.Helper()
	tables, err := New(queries, k, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	var c Scratch
	var matches []Match
	for first := (len(base) - 1) / chunk * chunk; first >= 0 && len(base) > 0; first -= chunk {
		matches = tables.Map(matches, base[first:min(first+chunk, len(base))], uint64(first), &c)
	}
	matches = tables.Map(matches, base[:min(chunk, len(base))], 0, &c)
	for _, h := range tables.Reduce(matches) {
		hits = append(hits, oracle.Hit{Query: h.Query, Distance: h.Distance, Fingerprint: h.Fingerprint, Row: int(h.Row)})
	}
	return hits
}

func TestOracle(t *testing.T) {
	for k := 0; k <= 6; k++ {
		for _, set := range sets.All(600, 100, k, uint64(k)+77) {
			queries := append(slices.Clone(set.Queries), set.Queries[:20]...) // some twice
			want := oracle.Search(set.Base, queries, k)
			for _, chunk := range []int{100, 2048, 5000} {
				if got := answer(t, set.Base, queries, k, chunk); !slices.Equal(got, want) {
					t.Fatalf("k=%d, %s, chunks of %d: %d hits, want %d", k, set.Name, chunk, len(got), len(want))
				}
			}
		}
	}
	if got := answer(t, []uint64{1, 2}, nil, 3, 10); got != nil {
		t.Fatalf("hits of no queries: %v", got)
	}
}

func TestBadK(t *testing.T) {
	if _, err := New(nil, 9, 1); err == nil {
		t.Fatal("no error")
	}
}

func BenchmarkMap(b *testing.B) {
	base, queries := sets.Planted(4<<20, 1_000_000)
	tables, err := New(queries, 3, 2)
	if err != nil {
		b.Fatal(err)
	}
	defer tables.Close()
	var c Scratch
	var matches []Match
	for b.Loop() {
		matches = tables.Map(matches[:0], base, 0, &c)
	}
	if len(matches) < 400_000 {
		b.Fatalf("%d matches", len(matches))
	}
	b.ReportMetric(float64(len(base))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mfp/s")
	b.ReportMetric(float64(len(tables.tables)), "tables")
}

func TestRun(t *testing.T) {
	base, queries := sets.Planted(30_000, 500)
	want := oracle.Search(base, queries, 3)
	tables, err := New(queries, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	for name, source := range map[string]func() Source{
		"slice":  func() Source { return Slice(base) },
		"stream": func() Source { return Reader(bytes.NewReader(store.Bytes64(base))) },
	} {
		for _, threads := range []int{1, 3} {
			done := uint64(0)
			hits, err := tables.Run(context.Background(), source(), threads, func(n uint64) { done = n })
			if err != nil || len(hits) != len(want) || done != uint64(len(base)) {
				t.Fatalf("%s: %d hits, want %d; %v", name, len(hits), len(want), err)
			}
			for i, h := range hits {
				if (oracle.Hit{Query: h.Query, Distance: h.Distance, Fingerprint: h.Fingerprint, Row: int(h.Row)}) != want[i] {
					t.Fatalf("%s: hit %d is %v, want %v", name, i, h, want[i])
				}
			}
		}
	}
	if _, err := tables.Run(context.Background(), Reader(strings.NewReader("eleven byte")), 2, nil); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a partial fingerprint: %v", err)
	}
	broken := errors.New("broken")
	if _, err := tables.Run(context.Background(), func() ([]uint64, error) { return nil, broken }, 2, nil); !errors.Is(err, broken) {
		t.Errorf("a source that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tables.Run(ctx, Slice(base), 2, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
