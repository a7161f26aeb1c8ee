package ndf

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

// TestSketches keeps the sketches of documents in several chunks, and refuses sketches of another version, of
// other sizes, and in some chunks only.
func TestSketches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.ndf")
	w, err := Create(path, simhash.Default(), store.Options{})
	must.Do(t, err)
	w.KeepSketches()
	var want []sketch.Sketch
	for i := range 10 {
		s := sketch.Sketch{uint64(i), 7: 1 << 63}
		want = append(want, s)
		must.Do(t, w.Append(Document{ID: name(i), Fingerprint: print(i), Sketch: s}))
		if i == 6 {
			must.Do(t, w.flush())
		}
	}
	must.Do(t, w.Commit())
	f, err := Open(path, OpenOptions{})
	must.Do(t, err)
	defer f.Close()
	if got := slices.Concat(slices.Collect(f.Sketches)...); !f.HasSketches() || !slices.Equal(got, want) {
		t.Errorf("sketches %t: %v, want %v", f.HasSketches(), got, want)
	}
	sections := hostile.Sections(t, path, store.KindFingerprints)
	at := slices.IndexFunc(sections, func(s store.Section) bool { return s.Name == sketchesSection })
	for _, c := range []struct {
		name   string
		change func(list []store.Section) []store.Section
		want   string
	}{
		{"another version", func(list []store.Section) []store.Section {
			list[at].Name = sketchesName + "9"
			return list
		}, "sketches.9, offset 0x6000: sketches of another version, where \"sketches.1\" is due"},
		{"too few", func(list []store.Section) []store.Section {
			list[at].Data = list[at].Data[sketch.Bytes:]
			return list
		}, "where the sketches of 7 documents are due"},
		{"in the first chunk only", func(list []store.Section) []store.Section {
			return slices.Delete(list, at+5, at+6)
		}, "not those of a fingerprint file"},
	} {
		_, err := fromStore(hostile.File(t, store.KindFingerprints, c.change(slices.Clone(sections))))
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
