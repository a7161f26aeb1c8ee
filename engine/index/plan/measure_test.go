package plan

import (
	"testing"

	"ndd/engine/oracle"
)

// TestMeasure measures this machine: the costs are sound, always, and a search costs
// something, in every backend, unless what was measured was disturbed, time after time.
func TestMeasure(t *testing.T) {
	oracle.AllKernels(t, func(kernel string) {
		var m *Machine
		for try := 0; try == 0 || try < 10 && !costly(m); try++ {
			var err error
			if m, err = measure(4 << 20); err != nil {
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

// TestHere: one machine a process, measured anew for other kernels or larger
// tables only.
func TestHere(t *testing.T) {
	here.machine = nil // of whatever test came before
	a, err := Here(1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Here(500, nil)
	if err != nil || a != b {
		t.Errorf("%p then %p (%v)", a, b, err)
	}
	c, err := Here(1<<17, nil)
	if err != nil || c == b || c.Reads[len(c.Reads)-1].Bytes < 8<<20 {
		t.Errorf("%p then %p (%v)", b, c, err)
	}
}
