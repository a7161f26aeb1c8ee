package activity

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// What was added is told of in its step, with quantiles that are at most a fifth too large, until it is five minutes old.
func TestRing(t *testing.T) {
	var r Ring
	begin := time.Unix(1_700_000_000, 0)
	random := rand.New(rand.NewPCG(1, 2))
	var times []time.Duration
	for range 1000 {
		took := time.Duration(random.ExpFloat64() * float64(3*time.Millisecond))
		times = append(times, took)
		r.Add(begin, Query, false, took)
	}
	slices.Sort(times)
	r.Add(begin, Change, true, time.Hour)
	r.Add(begin.Add(Step), Change, false, 0)
	last := Steps - 2
	for age := 1; age < 2*Steps; age++ {
		recent := r.Recent(begin.Add(time.Duration(age) * Step))
		for i, m := range recent {
			var want Moment
			switch i + age - 1 {
			case last:
				want = Moment{Queries: 1000, Refused: 1, P50: m.P50, P99: m.P99}
				for part, got := range map[int]time.Duration{500: m.P50, 990: m.P99} {
					if exact := times[part-1]; got < exact || got > exact*12/10+bucketFirst*1e9 {
						t.Fatalf("quantile %d: %v, %v exactly", part, got, exact)
					}
				}
			case last + 1:
				want = Moment{Changes: 1, P50: 10 * time.Microsecond, P99: 10 * time.Microsecond}
			}
			if m != want {
				t.Fatalf("after %d steps, step %d: %+v, want %+v", age, i, m, want)
			}
		}
	}
}

// Times beyond all buckets are counted in the last.
func TestBuckets(t *testing.T) {
	for took, want := range map[time.Duration]int{-1: 0, 0: 0, time.Microsecond: 0, 10 * time.Microsecond: 0, 11 * time.Microsecond: 1, time.Hour: buckets - 1} {
		if got := bucket(took); got != want {
			t.Errorf("%v: bucket %d, want %d", took, got, want)
		}
	}
}
