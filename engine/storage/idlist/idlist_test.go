package idlist

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

func build(t testing.TB, list []string) (*bytes.Buffer, []uint64) {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	for _, s := range list {
		must.Do(t, w.Append(s))
	}
	ends, err := w.Close()
	must.Do(t, err)
	return &out, ends
}

// open opens blocks and ends as a file's sections would be.
func open(blocks []byte, ends []uint64) (*List, error) {
	return Open(store.Section{Name: "names", Data: blocks}, store.Section{Name: "names.ends", Data: store.Bytes64(ends)})
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, perBlock - 1, perBlock, perBlock + 1, 3*perBlock + 7} {
		var list []string
		for i := range n {
			list = append(list, strings.Repeat("x", i%5)+fmt.Sprintf("/a/long/path/of/a/tree/%d", i*i))
		}
		if n > 3 {
			list[3] = "" // an empty name is a name
			list[2] = strings.Repeat("y", MaxBytes)
		}
		out, ends := build(t, list)
		names, err := open(out.Bytes(), ends)
		must.Do(t, err)
		if names.Len() != uint64(n) {
			t.Fatalf("%d names of %d", names.Len(), n)
		}
		c := names.Cursor()
		for i := range list {
			j := i * 7919 % n // ordinals inside and outside the cursor's block
			if got, err := c.ID(uint64(j)); err != nil || got != list[j] {
				t.Fatalf("name %d: %q, %v; want %q", j, got, err, list[j])
			}
		}
		names.Close()
	}
	if err := NewWriter(new(bytes.Buffer)).Append(strings.Repeat("x", MaxBytes+1)); err == nil {
		t.Error("a name that is too long was taken")
	}
}

func TestCorrupt(t *testing.T) {
	list := make([]string, 2*perBlock+1)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	out, ends := build(t, list)
	for _, bad := range [][]uint64{nil, {1}, {0, 1}, ends[:2], append([]uint64{1 << 63}, ends[1:]...)} {
		if _, err := open(out.Bytes(), bad); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("ends %v: %v", bad, err)
		}
	}
	swapped := []uint64{ends[0], ends[2], ends[1], ends[3]}
	n, err := open(out.Bytes(), swapped)
	must.Do(t, err)
	defer n.Close()
	if _, err := n.Cursor().ID(perBlock); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("ends out of order: %v", err)
	}
}

// TestFrameLength checks that a short frame that claims to unpack to 8 MB is refused before memory is allocated.
func TestFrameLength(t *testing.T) {
	lie := []byte{0x28, 0xb5, 0x2f, 0xfd, // magic
		0xa0, 0x00, 0x00, 0x80, 0x00, // one segment, 0x800000 bytes
		0x09, 0x00, 0x00, 'a'} // the last block: one byte, not compressed
	honest := append(lie[:5:5], 0x01, 0, 0, 0)
	honest = append(honest, lie[9:]...)
	for _, c := range []struct {
		frame []byte
		says  string
	}{
		{lie, "a zstd frame of 13 bytes announces 8388608 bytes"},
		{honest, "an ID runs past the end"}, // 97 bytes long
		{append(slices.Clone(honest), 0), "block 0 of IDs: "},
		{honest[:12], "block 0 of IDs: "},
		{honest[:10], "block 0 of IDs: "},
		{[]byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}, "block 0 of IDs: "},
		{[]byte("no frame at all"), "invalid"},
	} {
		n, err := open(c.frame, []uint64{1, uint64(len(c.frame))})
		must.Do(t, err)
		hostile.Allocates(t, hostile.Limit(uint64(len(c.frame))), func() { _, err = n.Cursor().ID(0) })
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%x: %v, want %q", c.frame, err, c.says)
		}
		n.Close()
	}
}

func FuzzBlock(f *testing.F) {
	out, _ := build(f, []string{"one", "two", "three"})
	f.Add(out.Bytes(), uint64(3))
	f.Fuzz(func(t *testing.T, block []byte, count uint64) {
		n, err := open(block, []uint64{count, uint64(len(block))})
		if err != nil {
			return
		}
		defer n.Close()
		c := n.Cursor()
		for i := range min(count, 300) {
			if _, err := c.ID(i); err != nil && !errors.Is(err, store.ErrCorrupt) {
				t.Fatal(err)
			}
		}
	})
}
