package plan

import (
	"context"
	"errors"
	"testing"

	"ndd/engine/memory"
	"ndd/engine/oracle"
)

// TestMeasure measures this machine: the costs are sound, always, and a search costs
// something, in every backend, unless what was measured was disturbed, time after time.
func TestMeasure(t *testing.T) {
	oracle.AllKernels(t, func(kernel string) {
		var m *Machine
		for try := 0; try == 0 || try < 10 && !costly(m); try++ {
			var err error
			if m, err = measure(t.Context(), 4<<20); err != nil {
				t.Fatal(err)
			}
			if err := m.Check(); err != nil {
				t.Errorf("%s: %v", kernel, err)
			}
		}
		if m.Kernel != kernel || m.Reads[len(m.Reads)-1].Bytes < 4<<20 || m.LineNS <= 0 {
			t.Errorf("%s: %+v", kernel, m)
		}
		if !costly(m) {
			t.Errorf("%s: %+v", kernel, m.Layouts)
		}
	})
}

// costly says whether a probe costs something on m, and a candidate.
func costly(m *Machine) bool {
	for _, c := range m.Layouts {
		if c.ProbeNS <= 0 || c.UnitNS <= 0 {
			return false
		}
	}
	return len(m.Layouts) > 0
}

// TestMeasureBounds: as much of memory is measured as tables for so many fingerprints take, and as half of what a
// budget has left allows; the memory is given back; a context that is done ends it.
func TestMeasureBounds(t *testing.T) {
	b := memory.NewBudget(memory.Limit{Bytes: 8 << 20, Source: "the test"})
	for fingerprints, want := range map[uint64]uint64{1000: 256 << 10, 1 << 15: 2 << 20, 1 << 40: 4 << 20} {
		m, err := Measure(t.Context(), fingerprints, b)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Reads[len(m.Reads)-1].Bytes; got != want || b.Left() != 8<<20 {
			t.Errorf("%d fingerprints: measured up to %d bytes, want %d; %d bytes left", fingerprints, got, want, b.Left())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, 1000, b); !errors.Is(err, context.Canceled) {
		t.Errorf("a measurement that was called off: %v", err)
	}
}

// TestMedianCosts: what one cost of a round was disturbed by, up or down, is not in the costs.
func TestMedianCosts(t *testing.T) {
	want := Costs{CallNS: 1, QueryNS: 2, TableNS: 3, ProbeNS: 4, UnitNS: 5, PassNS: 6, ListNS: 7}
	rounds := []Costs{want, want, want, want, want}
	rounds[0].TableNS, rounds[1].TableNS = 100, 100
	rounds[2].CallNS, rounds[0].CallNS = 0, 0
	rounds[3].QueryNS, rounds[4].QueryNS = 0, 90
	rounds[0].ProbeNS, rounds[1].UnitNS, rounds[4].PassNS = 50, 0, 70
	rounds[3].ListNS = 0
	if got := medianCosts(rounds); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
