package wal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/crash"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

// small makes a log of two files: records 1 and 2 in a frame, 3 in one; then 4, 5 and 6 in a frame
// each. With end it is closed. It returns the content of the files.
func small(t testing.TB, dir string, end bool) (first, last []byte) {
	t.Helper()
	l, _, _ := open(t, nil, dir, Options{})
	put(t, l, "one", "two")
	put(t, l, "three")
	rotate(t, l)
	for i := range 3 {
		put(t, l, fmt.Sprint("record ", 4+i))
	}
	if end {
		closed(t, l)
	}
	return must.Read(t, path(dir, 1)), must.Read(t, path(dir, 2))
}

var smallRecords = []string{"1:one", "2:two", "3:three", "4:record 4", "5:record 5", "6:record 6"}

// check reads a log whose files are first and last.
func check(first, last []byte) (Report, []string, error) {
	replay, records := collect()
	s := logState{next: 1}
	err := s.file(path("dir", 1), first, false, replay)
	if err == nil {
		err = s.file(path("dir", 2), last, true, replay)
	}
	return s.Report, *records, err
}

// write makes a log of these files.
func write(t testing.TB, dir string, first, last []byte) {
	t.Helper()
	for i, data := range [][]byte{first, last} {
		must.Do(t, os.WriteFile(path(dir, uint64(i+1)), data, 0o600))
	}
}

// prefix checks that records are the first ones of the small log, at least the given number.
func prefix(t *testing.T, name string, records []string, minimum int) {
	t.Helper()
	if n := len(records); n < minimum || n > len(smallRecords) || !slices.Equal(records, smallRecords[:n]) {
		t.Errorf("%s: %v", name, records)
	}
}

// TestCut cuts each file at every length. The last file keeps its complete frames, and the log continues after
// them. A cut in an earlier file is damage.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, end := range []bool{false, true} {
		first, last := small(t, t.TempDir(), end)
		for n := range last {
			r, records, err := check(first, last[:n])
			if err != nil {
				t.Fatalf("%d bytes: %v", n, err)
			}
			prefix(t, fmt.Sprint(n, " bytes"), records, 3)
			if whole := int(r.Bytes) - len(first); r.TornBytes != int64(n-max(whole, 0)) || (r.TornBytes > 0 ||
				n == 0) != (r.TornFile != "") {
				t.Errorf("%d bytes: %+v", n, r)
			}
			dir := t.TempDir()
			write(t, dir, first, last[:n])
			l, _, _ := open(t, crash.Unsynced, dir, Options{})
			put(t, l, "next")
			closed(t, l)
			replay, repeated := collect()
			r, err = Check(dir, Options{}, replay)
			if want := append(slices.Clone(records), fmt.Sprintf("%d:next", len(records)+1)); err != nil ||
				!slices.Equal(*repeated, want) || r.TornFile != "" {
				t.Errorf("%d bytes, and after it: %v, %+v, %v", n, *repeated, r, err)
			}
		}
		for n := range first {
			_, records, err := check(first[:n], last)
			hostile.Expect(t, fmt.Sprint(n, " bytes of the first"), err)
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%d bytes of the first file: %v, %v", n, records, err)
			}
		}
	}
}

// TestFlip flips every bit. Either Open reports the damage, or it returns the records before the last frame of a
// log that was not closed. With a later frame, no damage is mistaken for a crash.
func TestFlip(t *testing.T) {
	t.Parallel()
	for _, end := range []bool{false, true} {
		first, last := small(t, t.TempDir(), end)
		tail := len(last) - 48 // start of the frame of the last record
		if end {
			tail = len(last) - frameHead
		}
		for i, data := range [][]byte{first, last} {
			for bit := range 8 * len(data) {
				data[bit/8] ^= 1 << (bit % 8)
				r, records, err := check(first, last)
				data[bit/8] ^= 1 << (bit % 8)
				name := fmt.Sprintf("file %d, byte %#x, bit %d", i+1, bit/8, bit%8)
				hostile.Expect(t, name, err)
				switch {
				case err != nil && !errors.Is(err, store.ErrCorrupt):
					t.Errorf("%s: %v", name, err)
				case err == nil && (i == 0 || bit/8 < tail):
					t.Errorf("%s: not found: %v", name, records)
				case err == nil:
					prefix(t, name, records, map[bool]int{false: 5, true: 6}[end])
					if r.TornFile == "" {
						t.Errorf("%s: %+v", name, r)
					}
				}
			}
		}
	}
}

// TestReplayed moves frames to another offset, another file, another log with the same records, and a newer file of
// the same name.
func TestReplayed(t *testing.T) {
	first, last := small(t, t.TempDir(), false)
	_, other := small(t, t.TempDir(), false)
	const frameBytes = 48
	frameAt := func(i int) []byte { return last[headerBytes+i*frameBytes : headerBytes+(i+1)*frameBytes] }
	swapped := slices.Concat(last[:headerBytes], frameAt(1), frameAt(0), frameAt(2))
	doubled := slices.Concat(last, frameAt(2))
	for name, c := range map[string]struct {
		first, last []byte
		records     int // number of remaining records; 0 means damage
	}{
		"two exchanged": {first, swapped, 0},
		"one twice":     {first, doubled, 6},
		"one left out":  {first, slices.Concat(last[:headerBytes], frameAt(0), frameAt(2)), 4},
		"of another log": {first, slices.Concat(last[:headerBytes+2*frameBytes],
			other[headerBytes+2*frameBytes:]), 5},
		"of another log, in the middle": {first, slices.Concat(last[:headerBytes+frameBytes],
			other[headerBytes+frameBytes:headerBytes+2*frameBytes], frameAt(2)), 0},
		"the header of another log": {first, slices.Concat(other[:headerBytes], last[headerBytes:]), 3},
		"of the first file":         {first, slices.Concat(last, first[headerBytes:]), 6},
		"the first file twice":      {first, first, 0},
		"in the first file":         {slices.Concat(first, frameAt(0)), last, 0},
		"zeros behind it":           {first, slices.Concat(last, make([]byte, 5000)), 6},
		"other bytes behind it":     {first, slices.Concat(last, bytes.Repeat([]byte{0xa5}, 5000)), 6},
	} {
		r, records, err := check(c.first, c.last)
		if c.records == 0 {
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%s: %v, %v", name, records, err)
			}
			continue
		}
		if err != nil || len(records) != c.records || r.TornFile == "" {
			t.Errorf("%s: %v, %+v, %v", name, records, r, err)
			continue
		}
		prefix(t, name, records, c.records)
	}
}

// TestHostile changes files and repairs their checksums. Open returns an error with the place, or as many records
// as it reports.
func TestHostile(t *testing.T) {
	first, last := small(t, t.TempDir(), true)
	rng := rand.New(rand.NewPCG(1, 2))
	rounds := long.Or(2_000, 20_000)
	for i := range rounds {
		changed := slices.Clone(last)
		for range 1 + rng.IntN(3) {
			changed[rng.IntN(len(changed))] = byte(rng.Uint32())
		}
		repaired(changed)
		hostile.Allocates(t, hostile.Limit(uint64(len(first)+len(last)))+1<<20, func() {
			r, records, err := check(first, changed)
			hostile.Expect(t, fmt.Sprint("change ", i), err)
			if err == nil && int(r.Records) != len(records) {
				t.Errorf("change %d: %d records, %+v", i, len(records), r)
			}
		})
	}
}

// TestSequence repairs the checksums of frames with wrong positions: positions of the next frame, or of the
// previous one again.
func TestSequence(t *testing.T) {
	first, last := small(t, t.TempDir(), false)
	for _, to := range []uint64{0, 4, 6, 1 << 63} { // values for the frame of record 5
		changed := slices.Clone(last)
		set(changed[headerBytes+48+16:], to)
		repaired(changed)
		if _, records, err := check(first, changed); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(),
			"and 5 should follow") {
			t.Errorf("position %d: %v, %v", to, records, err)
		}
	}
}

// repaired makes the checksums of a file right, as far as its frames can be found.
func repaired(data []byte) {
	h := header{file: [16]byte(data[32:48]), number: le(data[48:])}
	set(data[64:], h.sum(0, data[:64]))
	f := frame{offset: headerBytes}
	for f.offset < int64(len(data)) {
		size := f.parse(data)
		if size == 0 {
			return
		}
		set(data[f.offset:], h.sum(f.offset, data[f.offset+8:f.offset+size]))
		f.offset += size
	}
}

// FuzzLog changes the last file of a log, with and without repaired checksums.
func FuzzLog(f *testing.F) {
	first, last := small(f, f.TempDir(), true)
	f.Add(last, true)
	f.Add(last[:len(last)-frameHead], false)
	f.Add(last[:headerBytes], true)
	f.Fuzz(func(t *testing.T, data []byte, repair bool) {
		if repair && len(data) >= headerBytes {
			data = slices.Clone(data)
			repaired(data)
		}
		r, records, err := check(first, data)
		hostile.Expect(t, "", err)
		if err != nil {
			return
		}
		if int(r.Records) != len(records) {
			t.Errorf("%d records, %+v", len(records), r)
		}
		dir := t.TempDir()
		write(t, dir, first, data)
		l, repeated, _ := open(t, crash.Unsynced, dir, Options{})
		if repeated.Records != r.Records {
			t.Errorf("opened: %+v; checked: %+v", repeated, r)
		}
		closed(t, l)
	})
}

// TestScanEnds places a frame of the size of the remaining file at every offset, for the search for a later frame.
func TestScanEnds(t *testing.T) {
	first, last := small(t, t.TempDir(), false)
	const size = 4 << 20
	data := append(slices.Clone(last[:headerBytes]), make([]byte, size)...)
	for pos := headerBytes + alignBytes; pos+frameHead <= len(data); pos += frameHead {
		b := data[pos:]
		b[8], b[9], b[10], b[11] = byte(size-pos), byte((size-pos)>>8), byte((size-pos)>>16), 0
		set(b[16:], 100)
		set(b[24:], headerBytes+1)
	}
	if _, _, err := check(first, data); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("%v", err)
	}
}

// TestStaleFrames places sound frames after the end of a log. A frame with later records proves damage. A frame with
// earlier records may be from before the space was used again, so it is ignored after an unfinished frame.
func TestStaleFrames(t *testing.T) {
	h := header{number: 1, first: 1}
	frameOf := func(data []byte, first Position, records ...string) []byte {
		b := make([]byte, frameHead)
		for _, r := range records {
			b = appendRecord(b, []byte(r))
		}
		pos := int64(len(data))
		return append(data, h.seal(b, frame{offset: pos, synced: pos, first: first, records: len(records)})...)
	}
	replay, _ := collect()
	read := func(data []byte) (Report, error) {
		s := logState{next: 1}
		return s.Report, s.file(path("dir", 1), data, true, replay)
	}
	two := frameOf(h.append(nil), 1, "one", "two")
	if _, err := read(frameOf(frameOf(slices.Clone(two), 3), 3, "three")); err == nil || !strings.Contains(err.Error(),
		"it follows the end of the log") {
		t.Errorf("a frame after the end: %v", err)
	}
	torn := append(slices.Clone(two), make([]byte, alignBytes)...)
	if _, err := read(frameOf(torn, 3, "three")); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a later frame after a bad one: %v", err)
	}
	if _, err := read(frameOf(torn, 1, "one")); err != nil {
		t.Errorf("an earlier frame after a torn one: %v", err)
	}
}
