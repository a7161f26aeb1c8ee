package oracle

import (
	"strings"
	"testing"
	"time"

	"example.org/ndd/engine/oracle/must"
)

// TestLateGoroutine checks that a goroutine that ends late is no leak.
func TestLateGoroutine(t *testing.T) {
	go time.Sleep(600 * time.Millisecond) // longer than goleak would wait
	must.Do(t, stay(timeout))
	end := make(chan struct{})
	go func() { <-end }()
	if err := stay(0); err == nil || !strings.Contains(err.Error(), "oracle.TestLateGoroutine.func") {
		t.Errorf("a goroutine that stays: %v", err)
	}
	close(end)
	must.Do(t, stay(timeout))
}
