package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/unpack"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
)

// TestPacker checks that for any block size and any number of goroutines, a copy is the content without its cuts. Each
// record is a member of its own, even if it is shorter or longer than a block.
func TestPacker(t *testing.T) {
	var content strings.Builder
	var starts []int64 // offsets of the kept records
	var cuts []cut
	var records []string // kept records
	for i := range 12 {
		from := int64(content.Len())
		fmt.Fprintf(&content, "%s%d\n", strings.Repeat("record ", i*i%11), i)
		if i%5 == 2 || i == 11 {
			cuts = append(cuts, cut{from: from, to: int64(content.Len())})
			continue
		}
		starts = append(starts, from)
		records = append(records, content.String()[from:])
	}
	longest := slices.MaxFunc(records, func(a, b string) int { return len(a) - len(b) })
	names := map[unpack.Packing]string{unpack.None: "a", unpack.Gzip: "a.gz", unpack.Zstd: "a.zst"}
	for packing, name := range names {
		for _, starts := range [][]int64{nil, starts} {
			for blockBytes := 1; blockBytes <= content.Len()+2; blockBytes++ {
				if !long.Form() && blockBytes > len(longest)+1 && blockBytes < content.Len()-1 && blockBytes%16 != 0 {
					continue
				}
				var first string
				for _, threads := range []int{1, 3} {
					p, err := newPacker(threads, 2*threads, blockBytes)
					must.Do(t, err)
					var out bytes.Buffer
					c := &format.Content{Reader: strings.NewReader(content.String()), Packing: packing, Members: starts != nil}
					must.Do(t, p.pack(t.Context(), &out, c, nil, copyWithout(cuts, starts)))
					if got := files.Unpack(t, map[string]string{name: out.String()})[name]; got != strings.Join(records, "") {
						t.Fatalf("%s in blocks of %d: %q, want %q", name, blockBytes, got, records)
					}
					if starts != nil && packing == unpack.Gzip && !slices.Equal(membersOf(t, out.Bytes()), records) {
						t.Fatalf("blocks of %d: members %q, want %q", blockBytes, membersOf(t, out.Bytes()), records)
					}
					if threads == 1 {
						first = out.String()
					} else if out.String() != first {
						t.Fatalf("%s in blocks of %d depends on the number of goroutines", name, blockBytes)
					}
					if len(p.free) != cap(p.free) {
						t.Fatalf("%d of %d blocks are back", len(p.free), cap(p.free))
					}
				}
			}
		}
	}
}

// copyWithout copies all but the cuts.
func copyWithout(cuts []cut, starts []int64) func(*contentCopy) error {
	return func(c *contentCopy) error {
		return c.last(&edits{cuts: slices.Clone(cuts), starts: starts, end: math.MaxInt64})
	}
}

// membersOf returns the content of each member of a gzip file.
func membersOf(t *testing.T, packed []byte) (all []string) {
	t.Helper()
	in := bytes.NewReader(packed)
	for in.Len() > 0 {
		z, err := gzip.NewReader(in)
		must.Do(t, err)
		z.Multistream(false)
		b, err := io.ReadAll(z)
		must.Do(t, err)
		all = append(all, string(b))
	}
	return all
}

// TestPackerErrors checks that an error of the source or of the copy ends the packer. So does a source that ends before
// the end of a cut.
func TestPackerErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		in   io.Reader
		out  io.Writer
		want error
	}{
		{io.MultiReader(strings.NewReader("some"), failingStream{broken}), io.Discard, broken},
		{strings.NewReader("some that is long enough"), failingStream{broken}, broken},
		{strings.NewReader("s"), io.Discard, io.ErrUnexpectedEOF},
	} {
		p, err := newPacker(2, 4, 3)
		must.Do(t, err)
		if err := p.pack(t.Context(), c.out, &format.Content{Reader: c.in}, nil,
			copyWithout([]cut{{from: 3, to: 4}}, nil)); !errors.Is(err, c.want) {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
}

// A failingStream returns err from every call.
type failingStream struct{ err error }

func (f failingStream) Read([]byte) (int, error)  { return 0, f.err }
func (f failingStream) Write([]byte) (int, error) { return 0, f.err }
