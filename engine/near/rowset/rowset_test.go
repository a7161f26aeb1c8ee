package rowset

import "testing"

func TestSet(t *testing.T) {
	var s Set
	for row := 0; row < 200; row += 63 {
		s.Add(row)
	}
	for row := range 300 {
		want := row < 200 && row%63 == 0
		if s.Has(row) != want || s.Bit(row) == 1 != want {
			t.Errorf("row %d: %v, %d", row, s.Has(row), s.Bit(row))
		}
	}
}
