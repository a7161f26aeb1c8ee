package engine

import (
	"errors"
	"testing"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
)

// TestBatchBudget: a batch that sweeps reserves what its plan says while it runs, and gives it back;
// where it does not fit it is refused before it begins; and where memory is little, fewer goroutines
// come first.
func TestBatchBudget(t *testing.T) {
	base, words := sets.Planted(20_000, 20_000)
	queries := simhash.Fingerprints(words)
	x := inMemory(t, base, segment.Options{Design: halves(t)})
	defer x.Close()
	budget := memory.NewBudget(memory.Set(300 << 20))
	o := BatchOptions{K: 3, Threads: 15, Budget: budget}
	p, err := x.PlanBatch(len(queries), o)
	if err != nil || p.Threads != 6 || p.Matches != 75<<20 || p.Orders == 0 || p.Bytes() > 300<<20 ||
		budget.Left() != 300<<20 {
		t.Fatalf("%+v, %v, %d left", p, err, budget.Left())
	}
	answered := 0
	err = x.Batch(t.Context(), queries, o, func(int, []Hit) error {
		if answered++; budget.Left() != 300<<20-p.Bytes() {
			t.Fatalf("%d bytes left while %d are in use", budget.Left(), p.Bytes())
		}
		return nil
	})
	if err != nil || answered == 0 || budget.Left() != 300<<20 {
		t.Errorf("%d answers, %v, %d left", answered, err, budget.Left())
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
