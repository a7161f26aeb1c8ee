package segment

import (
	"testing"

	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sections"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
)

// readAheadCounter is a source that counts how often it is read in order.
type readAheadCounter struct {
	store.Source
	begun, active int
}

func (w *readAheadCounter) ReadAhead() (end func()) {
	w.begun, w.active = w.begun+1, w.active+1
	return func() { w.active-- }
}

// TestReadAhead checks that sequential readers of a table declare it to the file, and searches do not.
func TestReadAhead(t *testing.T) {
	fingerprints := sets.Uniform(5000, 3)
	var m sections.Memory
	must.Do(t, Write(t.Context(), &m, Input{Fingerprints: fingerprints},
		Options{Design: design(t, 4), Threads: 1, Table: table.Options{Layout: table.LayoutPlanar}}))
	source := &readAheadCounter{Source: m.Source()}
	s, err := Open(source)
	must.Do(t, err)
	defer s.Close()
	var c Scratch
	for _, test := range []struct {
		name  string
		begun bool
		do    func() error
	}{
		{"Search", false, func() error { _, err := s.Search(nil, fingerprints[:10], 3, &c); return err }},
		{"Sweep", true, func() error {
			_, err := s.Sweep(t.Context(), fingerprints[:10], 3, 1000, []Team{{Threads: 1}})
			return err
		}},
		{"Walk", true, func() error { return s.Walk(func([]uint64) bool { return true }) }},
		{"Write", true, func() error {
			return Write(t.Context(), nowhere{}, Input{Sources: []Source{{Segment: s}}},
				Options{Design: *s.Design(), Threads: 1})
		}},
		{"Check", true, s.Check},
	} {
		before := source.begun
		if err := test.do(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if (source.begun > before) != test.begun || source.active != 0 {
			t.Errorf("%s: read in order %d times, %d not ended", test.name, source.begun-before, source.active)
		}
	}
}
