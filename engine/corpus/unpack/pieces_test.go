package unpack

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// TestDecodeAhead checks that files of several members or frames are read in pieces, of any size, and memory for them
// is given back. A file of one member, cut short, is read in place.
func TestDecodeAhead(t *testing.T) {
	var members strings.Builder
	var frames []byte
	z, err := zstd.NewWriter(nil)
	must.Do(t, err)
	content := strings.Repeat("some words of a text\n", 10)
	for range 20 {
		w := gzip.NewWriter(&members)
		io.WriteString(w, content)
		must.Do(t, w.Close())
		frames = z.EncodeAll([]byte(content), frames)
	}
	for file, packing := range map[string]Packing{members.String(): Gzip, string(frames): Zstd} {
		for size := 1; size < 2*len(file); size *= 3 {
			d, pieces := NewDecoders(3, 1<<20), 0
			d.PieceBytes = size
			d.pieces.New = func() any { pieces++; return new(piece) }
			r, err := NewReader(strings.NewReader(file), Options{Decoders: d})
			must.Do(t, err)
			got, err := io.ReadAll(r)
			r.Close()
			if err != nil || string(got) != strings.Repeat(content, 20) || r.Offset() != int64(len(got)) || r.Packing != packing {
				t.Errorf("%s in pieces of %d: %d bytes, %v", packing, size, len(got), err)
			}
			if pieces == 0 || d.Room.Held() != 0 {
				t.Errorf("%s in pieces of %d: %d pieces, %d bytes are held at the end", packing, size, pieces, d.Room.Held())
			}
		}
	}
}

// TestFrames checks that the length of a frame is found, of every kind of block.
func TestFrames(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	must.Do(t, err)
	bytes := make([]byte, 300_000)
	rand.NewChaCha8([32]byte{}).Read(bytes)
	for _, content := range []string{"a", strings.Repeat("a", 300_000), strings.Repeat("some text ", 50_000),
		string(bytes)} {
		b := z.EncodeAll([]byte(content), nil)
		for _, more := range []string{"", "more"} {
			if n, size := frame(append(b, more...)); n != len(b) || size < len(content) {
				t.Errorf("%.20q: %d bytes of %d, want %d of %d", content, n, size, len(b), len(content))
			}
		}
		for cut := range min(len(b), 100) {
			if n, _ := frame(b[:len(b)-1-cut]); n != 0 {
				t.Errorf("%.20q without its last %d bytes is a frame of %d", content, cut+1, n)
			}
		}
	}
}
