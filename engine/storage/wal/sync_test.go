package wal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
)

// counting is a disk that counts calls of one kind.
func counting(call disk.Call) (d *disk.Disk, calls *atomic.Int64) {
	calls = new(atomic.Int64)
	return disk.WithFailures(func(c disk.Call, _ string) error {
		if c == call {
			calls.Add(1)
		}
		return nil
	}), calls
}

// TestNoSync counts the syncs: one per record, or only those of a new file. Each record is written at once.
func TestNoSync(t *testing.T) {
	for noSync, want := range map[bool][2]int64{false: {50, math.MaxInt64}, true: {0, 2}} { // least and most
		d, syncs := counting(disk.CallSync)
		dir := t.TempDir()
		l, _, _ := open(t, d, dir, Options{NoSync: noSync})
		for i := range 50 {
			put(t, l, fmt.Sprint(i))
			if r, err := Check(dir, Options{}, func(Position, []byte) error { return nil }); err != nil ||
				r.Records != uint64(i+1) {
				t.Fatalf("after %d records the file has %+v, %v", i+1, r, err)
			}
		}
		if got := syncs.Load(); got < want[0] || got > want[1] {
			t.Errorf("NoSync %v: %d calls", noSync, got)
		}
		closed(t, l)
	}
}

// TestSharedSync delays the first call until 31 more records are appended. One more call makes all of them
// durable. A caller whose context ends returns early.
func TestSharedSync(t *testing.T) {
	const others = 31
	var begun atomic.Bool
	var syncs atomic.Int64
	hold, held := make(chan struct{}), make(chan struct{})
	d := disk.WithFailures(func(c disk.Call, _ string) error {
		if c == disk.CallSync && begun.Load() && syncs.Add(1) == 1 {
			close(held)
			<-hold
		}
		return nil
	})
	l, _, _ := open(t, d, t.TempDir(), Options{})
	put(t, l, "which makes the file")
	begun.Store(true)
	var all sync.WaitGroup
	await := func(position Position) {
		all.Go(func() {
			if err := l.Sync(t.Context(), position); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 1 + others {
		at := add(t, l, string(fmt.Append(nil, i)))
		if await(at); i == 0 {
			<-held
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := l.Sync(ctx, 2+others); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a caller who gives up: %v", err)
	}
	close(hold)
	all.Wait()
	if n := syncs.Load(); n != 2 {
		t.Errorf("%d calls for a record and %d others, want 2", n, others)
	}
	closed(t, l)
}

// TestSyncOrder has eight callers write all the time, on one processor. Another caller that needs the writer for
// itself gets it after the current call.
func TestSyncOrder(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	d, writes := counting(disk.CallWrite)
	l, _, _ := open(t, d, t.TempDir(), Options{NoSync: true})
	var stop atomic.Bool
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for !stop.Load() {
				put(t, l, "r")
			}
		})
	}
	var waited []int64
	for range 9 {
		before := writes.Load()
		must.Do(t, l.SyncAll())
		waited = append(waited, writes.Load()-before)
		runtime.Gosched()
	}
	stop.Store(true)
	all.Wait()
	closed(t, l)
	if slices.Sort(waited); waited[4] > 20 {
		t.Errorf("calls of others that were made before the own one: %d", waited)
	}
}
