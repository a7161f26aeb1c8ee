package engine

import (
	"context"
	"errors"
	"slices"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

// TestBatchAnswers compares a batch with the oracle, ends it early and cancels it. It gives sweeps so little memory
// that their parts are halved twice. The memory of a sweep is shared by all segments.
func TestBatchAnswers(t *testing.T) {
	base, queries := sets.Planted(20_000, 20_000)
	base = append(base, queries[:1000]...)
	x := inMemory(t, base, segment.Options{Design: halves(t)})
	w, err := x.live.View()
	must.Do(t, err)
	defer w.Release()
	if !search.Sweeps(w, len(queries)) {
		t.Fatal("no sweep")
	}
	want := oracle.Search(base, queries[:3000], 3)
	for i := range want {
		want[i].Row = 0 // documents are not requested
	}
	want = slices.Compact(want)
	collect := func(memory uint64) (all []oracle.Hit, answers int) {
		err := x.Batch(t.Context(), simhash.Fingerprints(queries), BatchOptions{K: 3, MatchBytes: memory},
			func(query int, hits []Hit) error {
				for _, h := range hits {
					all = append(all, oracle.Hit{Query: query, Distance: h.Distance, Fingerprint: uint64(h.Fingerprint)})
				}
				answers++
				return nil
			})
		must.Do(t, err)
		return all, answers
	}
	all, answers := collect(0)
	if n := len(want); len(all) <= n || !slices.Equal(all[:n], want) || all[n].Query < 3000 {
		t.Fatalf("%d hits, others than the %d that the first queries should have", len(all), n)
	}
	if !slices.IsSortedFunc(all, func(a, b oracle.Hit) int { return a.Query - b.Query }) {
		t.Fatal("answers are not in the order of queries")
	}
	for _, memory := range []uint64{24 * 3000, 1} {
		if little, n := collect(memory); !slices.Equal(all, little) || n != answers {
			t.Fatalf("%d bytes for sweeps: %d hits in %d answers, want %d in %d", memory, len(little), n, len(all), answers)
		}
	}
	twice := &version.Version{Segments: slices.Repeat(w.Version.Segments, 2)}
	for maximum, tooMany := range map[int]bool{2*len(all) - 1: true, 2 * len(all): false} { // limits for two segments together
		_, err := search.Sweep(t.Context(), version.View{Version: twice}, queries, 3, 1, maximum)
		if errors.Is(err, segment.ErrTooMany) != tooMany || !tooMany && err != nil {
			t.Errorf("a sweep that may hold %d of %d matches: %v", maximum, 2*len(all), err)
		}
	}

	n, stop := 0, errors.New("enough")
	err = x.Batch(t.Context(), simhash.Fingerprints(queries), BatchOptions{K: 3}, func(int, []Hit) error {
		if n++; n == 5 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 5 {
		t.Errorf("ended by an error of emit: %v after %d answers", err, n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n = 0
	err = x.Batch(ctx, simhash.Fingerprints(queries), BatchOptions{K: 3}, func(int, []Hit) error {
		n++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || n >= answers {
		t.Errorf("cancelled: %v after %d of %d answers", err, n, answers)
	}
}

// TestWalk sees every distinct fingerprint, of segments and of the buffer.
func TestWalk(t *testing.T) {
	base, _ := sets.Planted(5000, 10)
	x := inMemory(t, append(base, base[:100]...), segment.Options{Design: halves(t)})
	_, err := x.Insert(t.Context(), Doc{Fingerprint: 12345})
	must.Do(t, err)
	view, err := x.live.View()
	must.Do(t, err)
	defer view.Release()
	var seen []uint64
	must.Do(t, view.Walk(t.Context(), func(fingerprints []uint64) bool {
		seen = append(seen, fingerprints...)
		return true
	}))
	want := append(slices.Clone(base), 12345)
	slices.Sort(want)
	if slices.Sort(seen); !slices.Equal(seen, slices.Compact(want)) {
		t.Errorf("%d fingerprints, want %d, or others", len(seen), len(want))
	}
	calls := 0
	if err := view.Walk(t.Context(), func([]uint64) bool { calls++; return false }); err != nil || calls != 1 {
		t.Errorf("ended: %v after %d calls", err, calls)
	}
	if err := view.Walk(faults.NewCancelContext(t, 0), func([]uint64) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestBatchBudget checks that a batch that sweeps reserves the memory of its plan while it runs, and releases it. If
// the memory does not suffice, the batch is refused at the start. If memory is scarce, it uses fewer goroutines first.
func TestBatchBudget(t *testing.T) {
	base, words := sets.Planted(20_000, 20_000)
	queries := simhash.Fingerprints(words)
	x := inMemory(t, base, segment.Options{Design: halves(t)})
	defer x.Close()
	budget := memory.NewBudget(memory.Set(300 << 20))
	o := BatchOptions{K: 3, Threads: 15, Budget: budget}
	p, err := x.PlanBatch(len(queries), o)
	if err != nil || p.Threads != 6 || p.Matches != 75<<20 || p.Orders == 0 || p.Bytes() > 300<<20 ||
		budget.Free() != 300<<20 {
		t.Fatalf("%+v, %v, %d left", p, err, budget.Free())
	}
	answered := 0
	err = x.Batch(t.Context(), queries, o, func(int, []Hit) error {
		if answered++; budget.Free() != 300<<20-p.Bytes() {
			t.Fatalf("%d bytes left while %d are in use", budget.Free(), p.Bytes())
		}
		return nil
	})
	if err != nil || answered == 0 || budget.Free() != 300<<20 {
		t.Errorf("%d answers, %v, %d left", answered, err, budget.Free())
	}
	other, err := budget.Reserve("another", 250<<20)
	must.Do(t, err)
	err = x.Batch(t.Context(), queries, o, func(int, []Hit) error { t.Fatal("it has begun"); return nil })
	const want = "answering 20,000 queries needs up to 66 MiB of memory, and there are 50 MiB (the limit that was set)"
	if !errors.Is(err, memory.ErrTooLarge) || err.Error() != want {
		t.Error(err)
	}
	if err := x.Batch(t.Context(), queries[:100], o, func(int, []Hit) error { return nil }); err != nil {
		t.Errorf("so few that nothing is swept: %v", err)
	}
	other.Release()
}
