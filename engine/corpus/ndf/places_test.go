package ndf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

// placed returns documents like those of several input files: whole files, consecutive rows, rows with gaps, and rows
// without a fingerprint.
func placed(files int) (docs []Placed) {
	for f := range files {
		place := Place{File: fmt.Sprintf("in/%d.jsonl", f), Order: f}
		for i := range f * 7 % 5 * 90 {
			if place.Row++; f%4 == 0 && i%11 == 3 {
				place.Row += int64(i)
			}
			d := Document{ID: name(len(docs)), Fingerprint: fingerprint(len(docs)), TextBytes: i, Place: place,
				Hash: Hash{uint64(f), uint64(i)}}
			short := f%3 == 1 && i%10 < 2
			if short {
				d.Fingerprint, d.TextBytes = 0, 0
			}
			docs = append(docs, Placed{d, !short})
		}
		if f%5 == 0 {
			docs = append(docs, Placed{Document{ID: name(len(docs)), Place: Place{place.File + ".txt", 1000 + f, 0}}, true})
		}
	}
	slices.SortStableFunc(docs, func(a, b Placed) int { return a.Order - b.Order })
	return docs
}

// inputsOf returns the files of docs whose number is i modulo count, and one more of that kind without documents.
func inputsOf(docs []Placed, i, count int) (list []Input) {
	for _, d := range docs {
		if n := len(list); d.Order%count == i && (n == 0 || list[n-1].Order != d.Order) {
			list = append(list, Input{d.File, d.Order, int64(1000 * d.Order), format.Checksum(d.Order) << 60})
		}
	}
	return append(list, Input{fmt.Sprint("in/none", i), 2000*count + i, 7, 0})
}

// share writes the files of docs whose number is i modulo count, with hashes. If count is 0 or less, it writes all
// files and no share.
func share(t *testing.T, docs []Placed, i, count int) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.ndf", i))
	w, err := Create(path, simhash.Default(), store.Options{})
	must.Do(t, err)
	defer w.Abort()
	if w.KeepHashes(); count > 0 {
		w.KeepPlaces(Share{i, count, 77, ingest.Settings{Text: "body"}}, inputsOf(docs, i, count))
	}
	for _, d := range docs {
		w.SetContent(d.File, format.Checksum(d.Order)<<60)
		switch {
		case count > 0 && d.Order%count != i:
			continue
		case d.OK:
			err = w.Append(d.Document)
		default:
			err = w.AppendUnmarked(d.Document)
		}
		must.Do(t, err)
	}
	must.Do(t, w.Commit())
	f, err := Open(path, OpenOptions{})
	must.Do(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// TestPlaces checks that the shares of the same inputs, in any order, have all documents in the order of the inputs,
// with their places. A missing or repeated share is an error.
func TestPlaces(t *testing.T) {
	docs := placed(23)
	all := func(files ...*File) (got []Placed, err error) {
		parts, err := Parts(files)
		for _, p := range parts {
			for d, err := range p.Documents {
				must.Do(t, err)
				got = append(got, d)
			}
		}
		return got, err
	}
	shares := func(count int) (files []*File) {
		for i := range min(count, 32) {
			files = append(files, share(t, docs, i, count))
		}
		slices.Reverse(files)
		return files
	}
	for _, count := range []int{1, 2, 5} {
		files := shares(count)
		if got, err := all(files...); err != nil || !slices.Equal(got, docs) {
			t.Errorf("%d shares: %d documents, want %d; %v", count, len(got), len(docs), err)
		}
		parts, err := Parts(files)
		must.Do(t, err)
		want := inputsOf(docs, 0, 1)[:len(inputsOf(docs, 0, 1))-1]
		for i := range count {
			want = append(want, Input{fmt.Sprint("in/none", i), 2000*count + i, 7, 0})
		}
		for i, p := range parts {
			if in, ok := p.Input(); len(parts) != len(want) || !ok || in != want[i] {
				t.Fatalf("%d shares: file %d of %d is %+v", count, i, len(parts), in)
			}
		}
	}
	w, err := Create(filepath.Join(t.TempDir(), "x.ndf"), simhash.Default(), store.Options{})
	must.Do(t, err)
	defer w.Abort()
	w.KeepPlaces(Share{0, 1, 77, ingest.Settings{}}, []Input{{"in/a", 0, 0, 0}})
	if err := w.Append(Document{Place: Place{"in/b", 1, 1}}); err == nil {
		t.Error("a document of a file that is not in the share")
	}
	five := shares(5)
	other := share(t, docs, 4, 5)
	other.share.Settings.Text = "content"
	for want, files := range map[string][]*File{"share 32/2000 of the same files is missing": shares(2000),
		"are both share 2/5": append(shares(5), five[2]), `--text is "body" and "content"`: append(shares(5)[1:], other)} {
		if _, err := all(files...); !errors.Is(err, simhash.ErrMixed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// The documents of a file of no share have places in it, those without a fingerprint after the others.
	plain := share(t, docs[:9], 0, 0)
	got, err := all(append([]*File{plain}, five...)...)
	if err != nil || len(got) != len(docs)+9 || got[plain.Len()].OK || got[3].Place != (Place{plain.Path(), 0, 4}) ||
		!slices.ContainsFunc(docs[:9], func(d Placed) bool { return d.OK && d.ID == got[3].ID }) {
		t.Errorf("with a file of no share: %d documents, %+v, %v", len(got), got[3], err)
	}
	for _, d := range got[:9] {
		if i := slices.IndexFunc(docs, func(want Placed) bool { return want.ID == d.ID }); docs[i].Hash != d.Hash {
			t.Errorf("%s has the hash %v, want %v", d.ID, d.Hash, docs[i].Hash)
		}
	}
}

// TestPlacesOverflow checks that runs are refused if the sum of their documents is right only modulo 2^64.
func TestPlacesOverflow(t *testing.T) {
	docs := placed(9)
	f := share(t, docs, 0, 1)
	list := hostile.Sections(t, f.Path(), store.KindFingerprints)
	last := &list[len(list)-1]
	if last.Name != placesSection {
		t.Fatal(last.Name)
	}
	data := []byte{0, 1, 77} // share 0 of 1, digest
	for i, src := range f.sources {
		data = binary.AppendUvarint(binary.AppendUvarint(data, uint64(src.Order)), uint64(src.Bytes+1))
		data = binary.AppendUvarint(data, uint64(src.Content))
		runs := []uint64{}
		if i == 0 {
			runs = []uint64{math.MaxInt64, math.MaxInt64, 2 + f.docs}
		}
		data = binary.AppendUvarint(data, uint64(len(runs)))
		for _, n := range runs {
			data = binary.AppendUvarint(append(data, 0), 2*n)
		}
	}
	last.Data = data
	_, err := fromStore(hostile.File(t, store.KindFingerprints, list))
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "places of more than") {
		t.Errorf("%v", err)
	}
}

// exercisePlaces reads the documents of a file with places.
func exercisePlaces(t testing.TB, f *File) {
	parts, err := Parts([]*File{f})
	if err != nil {
		return // a share that is missing
	}
	docs := uint64(0)
	for _, p := range parts {
		for d, err := range p.Documents {
			if err != nil {
				hostile.Expect(t, "a document", err)
				return
			}
			if d.OK {
				docs++
			}
		}
	}
	if docs != f.Len() && parts != nil {
		t.Errorf("%d documents of %d", docs, f.Len())
	}
}
