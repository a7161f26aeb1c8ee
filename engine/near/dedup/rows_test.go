package dedup

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ndd/engine/oracle/must"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/spill"
)

// records are those of n documents: some short, with long IDs and short ones, of files that come
// twice, or are the document, or are not known.
func records(n int) (list []record) {
	rng := rand.New(rand.NewPCG(2, 9))
	file := ""
	for i := range n {
		if rng.IntN(20) == 0 {
			file = [...]string{"", "a", "b/c.jsonl.gz", strings.Repeat("long", 50)}[rng.IntN(4)]
		}
		r := record{id: strings.Repeat("x", rng.IntN(120)) + fmt.Sprint(i), place: Place{file, rng.Int64() >> rng.IntN(63)},
			length: rng.Uint32(), short: rng.IntN(5) == 0 || i/500%10 == 3}
		if rng.IntN(9) == 0 {
			r.place, r.values = Place{File: r.id}, []string{"", "a value"}
		}
		list = append(list, r)
	}
	return list
}

// TestRecords: records come back as they were given, all in order and one by one, those that are in
// the file, in memory and on both sides.
func TestRecords(t *testing.T) {
	for _, n := range []int{0, 1, blockRecords, 1000, 40_000} {
		dir := t.TempDir()
		f := &rowFile{dir: dir}
		list := records(n)
		var long []record // that have rows
		for _, r := range list {
			must.Do(t, f.append(r))
			if !r.short {
				long = append(long, r)
			}
		}
		if spilled := f.spilled > 0; spilled != (n == 40_000) || int(f.rows) != len(long) ||
			f.shorts != n-len(long) || len(f.tail) > tailBytes {
			t.Fatalf("%d records: %d bytes in the file, %d rows, %d short", n, f.spilled, f.rows, f.shorts)
		}
		got := make([]record, 0, n)
		for r, err := range (&rowReader{rowFile: f}).all {
			must.Do(t, err)
			got = append(got, r)
		}
		if !slices.EqualFunc(got, list, func(a, b record) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("%d records: others came in order", n)
		}
		rng, reader := rand.New(rand.NewPCG(3, 3)), &rowReader{rowFile: f}
		for i := range min(len(long), 3000) {
			row := (i * 7) % len(long)
			if i%2 == 0 {
				row = rng.IntN(len(long))
			}
			if r, err := reader.find(Row(row)); err != nil || !reflect.DeepEqual(r, long[row]) {
				t.Fatalf("%d records, row %d: %v, want %v; %v", n, row, r, long[row], err)
			}
		}
		must.Do(t, f.close())
	}
}

// TestRecordsLost: a full disk is an error where records are appended, and a file that has lost its
// end one of the corpus where they are read.
func TestRecordsLost(t *testing.T) {
	dir := t.TempDir()
	for _, call := range []disk.Call{disk.CallCreate, disk.CallWrite, ""} {
		c := NewCorpus(nil, ReadOptions{TempDir: dir, Disk: disk.Failing(func(made disk.Call, _ string) error {
			if made == call {
				return syscall.ENOSPC
			}
			return nil
		})})
		var err error
		for i := 0; i < 3*tailBytes/200 && err == nil; i++ {
			err = c.Append(Document{ID: fmt.Sprintf("%0200d", i)})
		}
		var e *spill.Error
		if call != "" && (!errors.As(err, &e) || e.Dir != dir || !errors.Is(err, syscall.ENOSPC)) || call == "" && err != nil {
			t.Errorf("%s: %v", call, err)
		}
		if call == "" {
			if id := c.ID(0); id != fmt.Sprintf("%0200d", 0) || c.Err() != nil {
				t.Error(id, c.Err())
			}
			if err := c.rows.run.Rewind(); err != nil { // the file is empty
				t.Fatal(err)
			}
			r := found(t, c, Options{})
			for range r.Kept() {
				t.Fatal("a record of a file that has none")
			}
			if id := c.ID(70); id != "" || !errors.Is(c.Err(), io.ErrUnexpectedEOF) {
				t.Error(id, c.Err())
			}
		}
		c.Close()
		c.Close()
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

// TestPlacesOfPrints: rows of fingerprint files are found in their files, behind an empty one too.
func TestPlacesOfPrints(t *testing.T) {
	c := &Corpus{prints: column[uint64]{all: make([]uint64, 5)}, parts: []part{{0, "a"}, {2, "b"}}}
	var got []string
	for row := range Row(5) {
		got = append(got, fmt.Sprint(c.Place(row)))
	}
	if want := "[{a 1} {a 2} {b 1} {b 2} {b 3}]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if at := (&Corpus{prints: column[uint64]{all: make([]uint64, 1)}}).Place(0); at != (Place{}) {
		t.Error(at)
	}
}

// TestFarthest: what is at most k from the one that is kept is not beyond it.
func TestFarthest(t *testing.T) {
	c := appended(t, Keep{}, Document{}, Document{Fingerprint: 0b111}, Document{Fingerprint: 0b111_111},
		Document{Fingerprint: 0b011_111})
	r := found(t, c, Options{K: 3, Chains: true})
	for cl := range r.Clusters() {
		for k, want := range map[int]int{2: 3, 3: 2, 4: 2, 5: 1, 6: 0} {
			if row, distance, beyond := r.Farthest(cl, k); row != 2 || distance != 6 || beyond != want {
				t.Errorf("k = %d: row %d at %d bits, %d beyond, want %d", k, row, distance, beyond, want)
			}
		}
	}
}

// TestReadPrints: the fingerprints of several files, which stay mapped, are clustered as those of
// documents are, with IDs or without; what is known is looked up among all.
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
	known := func(_ context.Context, prints []uint64) (list []Known, err error) {
		for row, f := range prints {
			if row%3 == 0 && f == uint64(docs[row].Fingerprint) {
				list = append(list, Known{Row: Row(row), ID: "old"})
			}
		}
		return list, nil
	}
	for _, o := range []Options{{K: 2}, {K: 1, Chains: true, Known: known}} {
		var got []string
		for _, c := range []*Corpus{c, appended(t, Keep{}, docs...)} {
			r := found(t, c, o)
			list := fmt.Sprintln(slices.Collect(r.Clusters()), slices.Collect(r.Dropped()), r.Distinct)
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
