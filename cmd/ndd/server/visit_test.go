package server

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A visit is a context that ends with its parent and at its time, whether anybody waits for it or not.
func TestVisitIsAContext(t *testing.T) {
	type key struct{}
	parent, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
	v := &visit{Context: parent}
	if v.Err() != nil || v.Done() != parent.Done() || v.Value(key{}) != "value" || visitOf(context.WithValue(v, key{}, 1)) != v {
		t.Errorf("without a time: %v", v.Err())
	}
	over := &visit{Context: parent, until: time.Now().Add(-time.Nanosecond)}
	if err := over.Err(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after its time, and nobody waits: %v", err)
	}
	<-over.Done()
	if err := over.Err(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after its time: %v", err)
	}
	long := &visit{Context: parent, until: time.Now().Add(10 * waitMax)}
	if at, ok := long.Deadline(); !ok || at != long.until || long.Err() != nil {
		t.Errorf("before its time: %v, %v, %v", at, ok, long.Err())
	}
	child, done := context.WithCancel(long)
	defer done()
	if child.Value(key{}) != "value" || visitOf(child) != long {
		t.Error("a context within has not its values")
	}
	untouched := &visit{Context: parent, until: long.until}
	cancel()
	<-child.Done()
	for _, c := range []context.Context{v, long, child, untouched} {
		if !errors.Is(c.Err(), context.Canceled) {
			t.Errorf("after its parent: %v", c.Err())
		}
	}
	for _, one := range []*visit{over, long, untouched} {
		one.end()
	}
}
