package asm

import (
	"testing"
	"time"
)

func TestSelfTest(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		if err := selfTest(); err != nil {
			t.Fatal(err)
		}
		if testing.CoverMode() != "" || raceEnabled {
			return
		}
		best := time.Duration(1 << 62)
		for range 20 {
			start := time.Now()
			if err := selfTest(); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		t.Logf("self-test: %v", best)
		if best > 5*time.Millisecond {
			t.Errorf("self-test takes %v: it belongs at the start of every process", best)
		}
	})
}
