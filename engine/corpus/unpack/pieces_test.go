package unpack

import (
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// TestDecodeAhead checks that a file of several members is read in pieces, of any size, and memory for them is given
// back.
func TestDecodeAhead(t *testing.T) {
	var members strings.Builder
	content := strings.Repeat("some words of a text\n", 10)
	for range 20 {
		w := gzip.NewWriter(&members)
		io.WriteString(w, content)
		must.Do(t, w.Close())
	}
	for size := 1; size < 2*members.Len(); size *= 3 {
		d, pieces := NewDecoders(3, 1<<20), 0
		d.PieceBytes = size
		d.pieces.New = func() any { pieces++; return new(piece) }
		r, err := NewReader(strings.NewReader(members.String()), Options{Decoders: d})
		must.Do(t, err)
		got, err := io.ReadAll(r)
		r.Close()
		if err != nil || string(got) != strings.Repeat(content, 20) || r.Offset() != int64(len(got)) || r.Packing != Gzip {
			t.Errorf("in pieces of %d: %d bytes, %v", size, len(got), err)
		}
		if pieces == 0 || d.Room.Held() != 0 {
			t.Errorf("in pieces of %d: %d pieces, %d bytes are held at the end", size, pieces, d.Room.Held())
		}
	}
}
