package parallel

import (
	"runtime"
	"testing"
)

// TestQueue checks that a queue returns items in order, with their results. It limits their total weight, except for a
// single item, and releases it.
func TestQueue(t *testing.T) {
	room := &Limit{Max: 10}
	q := &Queue[*square]{Limit: room, Max: 4}
	other := &Queue[*square]{Limit: room, Max: 4}
	add := func(q *Queue[*square], number int, first, final int64) {
		s := &square{root: number}
		q.Add(s, first, func() int64 {
			runtime.Gosched()
			s.is = s.root * s.root
			return final
		})
	}
	next := 0
	for of := range 1000 {
		for !q.Fits(3) {
			if first := q.First(); first != q.Remove() || first.root != next || first.is != next*next {
				t.Fatalf("%+v where %d is due", first, next)
			}
			next++
		}
		if add(q, of, 3, 2); q.Len() > 4 || room.Held() > 10 {
			t.Fatalf("%d items of weight %d", q.Len(), room.Held())
		}
	}
	if !other.Fits(100) {
		t.Error("no room in an empty queue")
	}
	add(other, 1, 100, 200)
	if other.First(); room.Held() < 200 || other.Fits(0) || q.Fits(0) {
		t.Errorf("a weight of %d is held", room.Held())
	}
	for _, q := range []*Queue[*square]{q, other} {
		for q.Len() > 0 {
			q.Remove()
		}
	}
	if room.Held() != 0 {
		t.Errorf("a weight of %d is held at the end", room.Held())
	}
}
