package rows

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestExpiries compares runs of expiry times with a list.
func TestExpiries(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 1))
	for range 200 {
		var e Expiries
		var list []Time
		for range rng.IntN(20) {
			expiry, n := Time(rng.IntN(4)), uint64(rng.IntN(5))
			e.Append(expiry, n)
			for range n {
				list = append(list, expiry)
			}
		}
		for now := range Time(5) {
			count, all := uint64(0), len(list) > 0
			for row, expiry := range list {
				if e.At(uint64(row)) != expiry {
					t.Fatalf("%v: row %d expires at %d, want %d", list, row, e.At(uint64(row)), expiry)
				}
				if expiry.Expired(now) {
					count++
				} else {
					all = false
				}
			}
			if e.Count(now) != count || e.Any(now) != (count > 0) || e.All(now) != all {
				t.Fatalf("%v at %d: %d, %t, %t, want %d, %t", list, now, e.Count(now), e.Any(now), e.All(now), count, all)
			}
		}
		if repeated, ok := ReadExpiries(e.Rows, e.Values, e.N); len(list) > 0 && (!ok || fmt.Sprint(repeated) != fmt.Sprint(e)) {
			t.Fatalf("%v: %v", e, repeated)
		}
	}
	for _, bad := range []struct {
		rows  []uint64
		times []Time
	}{{nil, nil}, {[]uint64{1}, []Time{1}}, {[]uint64{0}, nil}, {[]uint64{0, 3, 3}, []Time{1, 2, 3}},
		{[]uint64{0, 9}, []Time{1, 2}}, {[]uint64{0}, []Time{TimeMax + 1}}} {
		if e, ok := ReadExpiries(bad.rows, bad.times, 9); ok {
			t.Errorf("%v is taken for %v", bad, e)
		}
	}
}

// TestWallClock sets the system's clock. The clock of the index follows the monotonic clock, and a document is kept
// for its whole time to live.
func TestWallClock(t *testing.T) {
	system, monotonic := time.Unix(1000, 600_000_000), time.Duration(0)
	c := Clock{System: func() time.Time { return system }, Monotonic: func() time.Duration { return monotonic }}
	pass := func(d time.Duration) { monotonic, system = monotonic+d, system.Add(d) }
	if c.Now() != 0 || c.After(0) != 0 || c.After(Forever) != 0 || c.Now() != 0 {
		t.Error("nothing expires, and somebody asks for the time")
	}
	if expiry := c.After(1500 * time.Millisecond); expiry != 1003 || c.Now() != 1000 {
		t.Error(expiry, c.Now())
	}
	pass(10 * time.Second)
	system = time.Unix(500, 0)
	if expiry := c.After(time.Second); expiry != 1012 || c.Now() != 1010 || c.Jump() != 0 {
		t.Error("the clock was set back", expiry, c.Now())
	}
	const year = 365 * 24 * time.Hour
	for _, jump := range []time.Duration{10 * year, -10 * year} {
		now := c.Now()
		system = time.Unix(int64(now), 0).Add(jump)
		if got := c.Jump(); (got-jump).Abs() > time.Second || c.Now() != now {
			t.Errorf("a jump of %v: %v, %d", jump, got, c.Now()-now)
		}
		if pass(5 * time.Second); c.Now() != now {
			t.Error("the clock goes on before somebody has confirmed it")
		}
		system = system.Add(-jump)
		if c.Jump() != 0 || c.Now() != now+5 {
			t.Errorf("the jump is over: %d", c.Now()-now)
		}
	}
}

// TestClockBegins begins a clock at times near to and far from its last time.
func TestClockBegins(t *testing.T) {
	const last, day = 1_000_000, 24 * 3600
	for _, c := range []struct {
		system  int64
		confirm bool
		want    Time
		jump    bool
	}{
		{last + day, true, last + day, false}, {last - day, true, last, false},
		{last + day + 1, true, last, true}, {last - day - 1, true, last, true},
		{last + 9*day, false, last + 9*day, false}, {last - 9*day, false, last, true},
	} {
		clock := Clock{System: func() time.Time { return time.Unix(c.system, 0) },
			Monotonic: func() time.Duration { return 0 }}
		clock.Expiring.Store(true)
		clock.Begin(last, c.confirm)
		if got := clock.Now(); got != c.want || (clock.Jump() != 0) != c.jump {
			t.Errorf("%+v: %d, %v", c, got, clock.Jump())
		}
	}
}
