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

// TestOptional stores sketches and hashes of documents in several chunks. It refuses sections of another version or
// another size, and sections that only some chunks have.
func TestOptional(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.ndf")
	w, err := Create(path, simhash.Default(), store.Options{})
	must.Do(t, err)
	w.KeepSketches()
	w.KeepHashes()
	var want []sketch.Sketch
	for i := range 10 {
		s := sketch.Sketch{uint64(i), 7: 1 << 63}
		want = append(want, s)
		must.Do(t, w.Append(Document{ID: name(i), Fingerprint: fingerprint(i), Sketch: s, Hash: Hash{uint64(i)}}))
		if i == 6 {
			must.Do(t, w.flush())
		}
	}
	must.Do(t, w.AppendUnmarked(Document{ID: "short", Hash: Hash{10}}))
	must.Do(t, w.Commit())
	f, err := Open(path, OpenOptions{})
	must.Do(t, err)
	defer f.Close()
	if got := slices.Concat(slices.Collect(f.Sketches)...); !f.HasSketches() || !slices.Equal(got, want) {
		t.Errorf("sketches %t: %v, want %v", f.HasSketches(), got, want)
	}
	parts, err := Parts([]*File{f})
	must.Do(t, err)
	i := uint64(0)
	for d, err := range parts[0].Documents {
		must.Do(t, err)
		if d.Hash != (Hash{i}) {
			t.Errorf("document %d has the hash %v", i, d.Hash)
		}
		i++
	}
	sections := hostile.Sections(t, path, store.KindFingerprints)
	last := len(sections) - 1
	offset := slices.IndexFunc(sections, func(s store.Section) bool { return s.Name == sketchesSection })
	for _, c := range []struct {
		name   string
		change func(list []store.Section) []store.Section
		want   string
	}{
		{"another version", func(list []store.Section) []store.Section {
			list[offset].Name = sketchesName + "9"
			return list
		}, "sketches.9, offset 0x6000: sketches of another version, want \"sketches.1\""},
		{"too few", func(list []store.Section) []store.Section {
			list[offset].Data = list[offset].Data[sketch.Bytes:]
			return list
		}, "want \"sketches.1\" for 7 documents"},
		{"in the first chunk only", func(list []store.Section) []store.Section {
			return slices.Delete(list, offset+6, offset+7)
		}, "not those of a fingerprint file"},
		{"hashes of another version", func(list []store.Section) []store.Section {
			list[offset+1].Name = hashesName + "9"
			return list
		}, "hashes of another version, want \"hashes.1\""},
		{"too few hashes", func(list []store.Section) []store.Section {
			list[offset+1].Data = list[offset+1].Data[16:]
			return list
		}, "96 bytes, want \"hashes.1\" for 7 documents"},
		{"hashes of the second chunk under another name", func(list []store.Section) []store.Section {
			list[offset+7].Name = sketchesSection
			return list
		}, "48 bytes, want \"hashes.1\" for 3 documents"},
		{"no hashes of unmarked documents", func(list []store.Section) []store.Section {
			return list[:last]
		}, "not those of a fingerprint file"},
		{"too many hashes of unmarked documents", func(list []store.Section) []store.Section {
			list[last].Data = list[offset+1].Data
			return list
		}, "112 bytes, want \"unmarked.hashes.1\" for 1 documents"},
	} {
		_, err := fromStore(hostile.File(t, store.KindFingerprints, c.change(slices.Clone(sections))))
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
