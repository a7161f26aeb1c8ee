package memory

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// TestTooLarge checks the message about too little memory.
func TestTooLarge(t *testing.T) {
	b := NewBudget(Set(3 << 30))
	must.Do(t, b.Check("building", 3<<30))
	err := b.Check("building", 12<<30)
	const reported = "building needs up to 12 GiB of memory, and there are 3.0 GiB (the limit that was set)"
	if !errors.Is(err, ErrTooLarge) || err.Error() != reported {
		t.Error(err)
	}
	if err := b.Check("building", 3<<30+1); err == nil || !strings.Contains(err.Error(), "needs up to 3.1 GiB of memory") {
		t.Errorf("%v: rounded down, as many bytes do not do", err)
	}
	advised := Advise(fmt.Errorf("around it: %w", err), "take less")
	if !errors.Is(advised, ErrTooLarge) || advised.Error() != reported+": take less" || err.Error() != reported {
		t.Error(advised)
	}
	if repeated := Advise(advised, "take more"); repeated.Error() != advised.Error() {
		t.Error(repeated)
	}
	if other := errors.New("another"); Advise(other, "x") != other || Advise(nil, "x") != nil {
		t.Error("advice about an error that has another cause than memory")
	}
}

// TestReserve reserves parts of a budget and releases them.
func TestReserve(t *testing.T) {
	b := NewBudget(Set(100))
	first, err := b.Reserve("the first", 60)
	if err != nil || first.Bytes() != 60 || b.Free() != 40 {
		t.Fatal(err, b.Free())
	}
	if r, err := b.Reserve("the second", 41); r != nil || err == nil ||
		!strings.Contains(err.Error(), "the second needs up to 41 B of memory, and there are 40 B") {
		t.Error(err)
	}
	second, err := b.Reserve("the second", 40)
	if err != nil || b.Free() != 0 {
		t.Error(err, b.Free())
	}
	if err := first.Resize("the first", 61); err == nil || first.Bytes() != 60 || b.Free() != 0 {
		t.Error(err, first.Bytes(), b.Free())
	}
	second.Release()
	second.Release()
	if err := first.Resize("the first", 100); err != nil || b.Free() != 0 {
		t.Error(err, b.Free())
	}
	if err := first.Resize("the first", 1); err != nil || b.Free() != 99 {
		t.Error(err, b.Free())
	}
	first.Release()
	if b.Free() != 100 || first.Bytes() != 0 {
		t.Error(b.Free())
	}
}

// TestForProgram checks that the program counts in the required memory, and not in the memory that is left.
func TestForProgram(t *testing.T) {
	b := ForProgram(Set(Program + 10<<20))
	if b.Free() != 10<<20 || b.Total(1<<20) != Program+1<<20 {
		t.Error(b.Free(), b.Total(0))
	}
	r, err := b.Reserve("one", 4<<20)
	must.Do(t, err)
	err = b.Check("another", 8<<20)
	if err == nil || err.Error() != "another needs up to 40 MiB of memory, and there are 38 MiB (the limit that was set)" {
		t.Error(err)
	}
	r.Release()
	must.Do(t, b.Check("another", 8<<20))
	if tiny := ForProgram(Set(1)); tiny.Free() != 0 || tiny.Check("anything", 1) == nil {
		t.Error("more than the machine has")
	}
}

// TestNoBudget reserves without a limit.
func TestNoBudget(t *testing.T) {
	var b *Budget
	r, err := b.Reserve("all", 1<<60)
	if err != nil || r.Bytes() != 1<<60 || b.Free() != Unlimited.Bytes || b.Total(7) != 7 || b.Limit() != Unlimited {
		t.Error(err)
	}
	r.Release()
	(*Reservation)(nil).Release()
	if (*Reservation)(nil).Bytes() != 0 {
		t.Error("nothing has bytes")
	}
	if here := b.OrMachine(); here == nil || here.Limit() != (Machine{}).Limit(0) && here.Free() == 0 {
		t.Error("this machine has nothing")
	}
}

// TestReserveTogether reserves from many goroutines: never more than the limit, and everything is released at the
// end.
func TestReserveTogether(t *testing.T) {
	const limit, each, tasks = 1000, 300, 16
	b := NewBudget(Set(limit))
	var mu sync.Mutex
	var wait sync.WaitGroup
	taken, maximum := 0, 0
	count := func(change int) {
		mu.Lock()
		defer mu.Unlock()
		taken += change
		maximum = max(maximum, taken)
	}
	for range tasks {
		wait.Go(func() {
			for range 1000 {
				if r, err := b.Reserve("a part", each); err == nil {
					count(each)
					count(-each)
					r.Release()
				}
			}
		})
	}
	wait.Wait()
	if maximum > limit || b.Free() != limit {
		t.Errorf("%d of %d taken at a time, %d left", maximum, limit, b.Free())
	}
}
