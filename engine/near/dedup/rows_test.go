package dedup

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/oracle/must"
)

// someRecords returns the records of n documents with long and short IDs. Files repeat, are the document itself, or are
// unknown.
func someRecords(n int) (list []record) {
	rng := rand.New(rand.NewPCG(2, 9))
	file := ""
	for i := range n {
		if rng.IntN(20) == 0 {
			file = [...]string{"", "a", "b/c.jsonl.gz", strings.Repeat("long", 50)}[rng.IntN(4)]
		}
		r := record{id: strings.Repeat("x", rng.IntN(120)) + fmt.Sprint(i), place: Place{file, rng.Int64() >> rng.IntN(63)},
			length: rng.Uint32()}
		if rng.IntN(9) == 0 {
			r.place, r.values = Place{File: r.id}, []string{"", "a value"}
		}
		list = append(list, r)
	}
	return list
}

// TestRecords checks that records come back as they were given, all in order and one by one, in memory and in files.
func TestRecords(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 40_000} {
		c := NewCorpus(nil, ReadOptions{TempDir: t.TempDir()})
		f, list := &c.records, someRecords(n)
		for _, r := range list {
			must.Do(t, f.append(r))
		}
		must.Do(t, c.end())
		if f.text.IsSpilled() != (n == 40_000) || f.offsets.Len() != n {
			t.Fatalf("%d records: %d bytes, %d rows", n, f.text.Len(), f.offsets.Len())
		}
		for _, first := range []int{1, 7, n, n + 1} {
			var got []record
			for row, r := range f.iterate(Row(first)) {
				if got = append(got, r); row != Row(len(got)-1) {
					t.Fatalf("row %d, want %d", row, len(got)-1)
				}
			}
			if want := list[:min(first, n)]; !slices.EqualFunc(got, want, func(a, b record) bool { return reflect.DeepEqual(a, b) }) {
				t.Errorf("%d records: others came as the first %d", n, first)
			}
		}
		for i := range min(len(list), 3000) {
			row := (i * 7) % len(list)
			if r := f.record(Row(row)); !reflect.DeepEqual(r, list[row]) {
				t.Fatalf("%d records, row %d: %v, want %v", n, row, r, list[row])
			}
		}
		c.Close()
		c.Close()
	}
}

// TestFarthest checks that the farthest of the dropped documents is named.
func TestFarthest(t *testing.T) {
	c := appended(t, ReadOptions{}, Document{}, Document{Fingerprint: 0b111}, Document{Fingerprint: 0b111_111},
		Document{Fingerprint: 0b011_111})
	for cl := range found(t, c, Options{K: 6}).Clusters() {
		if row, distance := (&Result{corpus: c}).Farthest(cl); row != 2 || distance != 6 {
			t.Errorf("row %d at %d bits", row, distance)
		}
	}
}

// TestReadPrints checks that the fingerprints of several mapped files are clustered like those of documents, with IDs
// or without. Known fingerprints are looked up for all of them.
func TestReadPrints(t *testing.T) {
	for _, ids := range []bool{false, true} {
		testReadPrints(t, ids)
	}
}

func testReadPrints(t *testing.T, ids bool) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(7, 1))
	var docs []Document
	var paths []string
	for i, n := range []int{40, 2, 1, 300} {
		var raw []byte
		for range n {
			f := uint64(1) << rng.IntN(64) // 2 bits from each other
			if rng.IntN(3) == 0 {
				f = rng.Uint64()
			}
			docs = append(docs, Document{ID: fmt.Sprint(len(docs)), Fingerprint: simhashOf(f)})
			if ids {
				raw = fmt.Appendf(raw, "%016x\t%d\n", f, len(docs)-1)
			} else {
				raw = binary.LittleEndian.AppendUint64(raw, f)
			}
		}
		name := fmt.Sprint(i, ".bin")
		if ids {
			name = fmt.Sprint(i, ".tsv")
		}
		paths = append(paths, filepath.Join(dir, name))
		write(t, map[string][]byte{paths[i]: raw})
	}
	c, err := ReadPrints(t.Context(), paths, ReadOptions{})
	must.Do(t, err)
	defer c.Close()
	known := func(_ context.Context, fingerprints []uint64, _ []sketch.Sketch) (list []Drop, err error) {
		for row, f := range fingerprints {
			if row%3 == 0 && f == uint64(docs[row].Fingerprint) {
				list = append(list, Drop{Row: Row(row), Kept: "old"})
			}
		}
		return list, nil
	}
	for _, o := range []Options{{K: 2}, {K: 1, Known: known}} {
		var got []string
		for _, c := range []*Corpus{c, appended(t, ReadOptions{}, docs...)} {
			r := found(t, c, o)
			list := fmt.Sprintln(slices.Collect(r.Clusters()), slices.Collect(r.Dropped()), r.clusters.Distinct)
			for d := range r.Kept() {
				list += d.ID + "\n"
				if row, err := strconv.Atoi(d.ID); err != nil || d.Place != c.Place(Row(row)) {
					t.Errorf("%v, %v", d, err)
				}
			}
			got = append(got, list)
		}
		if got[0] != got[1] || strings.Count(got[0], "\n") < 30 {
			t.Errorf("%+v: %s\nwant %s", o, got[0], got[1])
		}
	}
	if got, want := fmt.Sprint(c.Place(39), c.Place(40), c.Place(43)), fmt.Sprintf("{%s 40} {%s 1} {%s 1}", paths[0],
		paths[1], paths[3]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
