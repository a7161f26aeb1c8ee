package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/unpack"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
)

// gzipped returns members of a level of compression.
func gzipped(t testing.TB, level int, members ...string) string {
	t.Helper()
	var b strings.Builder
	for _, m := range members {
		w, err := gzip.NewWriterLevel(&b, level)
		must.Do(t, err)
		io.WriteString(w, m)
		must.Do(t, w.Close())
	}
	return b.String()
}

// noise returns letters that hardly compress.
func noise(n int, seed uint64) string {
	rng, text := rand.New(rand.NewPCG(3, seed)), make([]byte, n)
	for i := range text {
		text[i] = byte(' ' + rng.IntN(90))
	}
	return string(text)
}

// scanned returns the units that a scan of a file yields, and the error of its content.
func scanned(t *testing.T, path string, d *unpack.Decoders) (got []string) {
	t.Helper()
	for u, err := range Units(t.Context(), input.File{Path: path}, Options{Decoders: d, Format: formatByName(path)}, nil) {
		got = append(got, unitText(u, err))
	}
	return got
}

func unitText(u Unit, err error) string {
	if skip, ok := err.(*input.Skip); ok {
		return fmt.Sprintf("%v %d %d %d", err, skip.Offset, skip.End, skip.ResumedAt)
	} else if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %d %d %q %q", u.Line, u.From, u.To, u.id, u.raw)
}

// contentOf returns the units of a file's content, and the bytes that were read after each unit and at the end.
func contentOf(t *testing.T, path string, d *unpack.Decoders) (units []string, content string) {
	t.Helper()
	c, err := Open(t.Context(), input.File{Path: path}, Options{Decoders: d, Format: formatByName(path)})
	if err != nil {
		return nil, err.Error()
	}
	defer c.Close()
	var b bytes.Buffer
	whole := int64(math.MaxInt64)
	for u, err := range c.Units {
		units = append(units, unitText(u, err))
		if skip, ok := err.(*input.Skip); ok && skip.Reason == input.Unreadable && skip.ResumedAt == 0 {
			whole = skip.Offset
		}
		if err == nil && u.To > 0 {
			if _, err := io.CopyN(&b, c, u.To-int64(b.Len())); err != nil {
				t.Fatalf("%s: %v before the end of unit %s", path, err, unitText(u, nil))
			}
		}
	}
	_, err = io.CopyN(&b, c, whole-int64(b.Len()))
	return units, fmt.Sprint(b.String(), err)
}

// TestPieces checks that decoders change nothing in the units and the content of a file. This holds for every division
// into pieces, every damage and truncation, and for bytes that only look like the start of a member.
func TestPieces(t *testing.T) {
	var lines, records, plain []string
	for i := range 9 {
		text := strings.Repeat(fmt.Sprint("text ", i*i*12345, " "), 1+i*3%5)
		lines = append(lines, fmt.Sprintf("{\"id\":%d,\"text\":%q}\n", i, text))
		records = append(records, record("conversion", text, "WARC-Target-URI", fmt.Sprint("u", i),
			"Content-Type", "text/plain"))
		plain = append(plain, text+"\n")
	}
	z, err := zstd.NewWriter(nil)
	must.Do(t, err)
	var frames, streams []byte
	for i, line := range lines {
		frames = z.EncodeAll([]byte(line), frames)
		if i == 3 {
			frames = append(frames, "\x51\x2a\x4d\x18\x03\x00\x00\x00abc"...) // a frame to skip
		}
		var b bytes.Buffer
		s, err := zstd.NewWriter(&b, zstd.WithEncoderCRC(i%2 == 0)) // frames without the size of their content
		must.Do(t, err)
		io.WriteString(s, line)
		s.Flush()
		must.Do(t, s.Close())
		streams = append(streams, b.Bytes()...)
	}
	member := gzipped(t, gzip.BestSpeed, "inner member")
	seems := gzipped(t, gzip.NoCompression, lines[0], "{\"text\":\"of "+member+" and "+member+"\"}\n", lines[1], lines[2])
	broken := slices.Clone(records)
	broken[3], broken[6] = "nonsense", strings.Replace(broken[6], "Length: ", "Length: 9", 1)
	dir := t.TempDir()
	for name, content := range map[string]string{
		"lines.jsonl.gz":     gz(t, lines...),
		"one.jsonl.gz":       gz(t, strings.Join(lines, "")),
		"seems.jsonl.gz":     seems,
		"records.warc.gz":    gz(t, records...),
		"empty.txt.gz":       gz(t, "", plain[0], "", "", plain[1], ""),
		"frames.jsonl.zst":   string(frames),
		"streams.jsonl.zst":  string(streams),
		"trailing.jsonl.zst": string(frames) + "trailing",
		"broken.warc.gz":     gz(t, broken...),
		"trailing.warc.gz":   gz(t, records...) + "trailing",
	} {
		path := filepath.Join(dir, name)
		same := func(what, content string, sizes ...int) {
			t.Helper()
			must.Do(t, os.WriteFile(path, []byte(content), 0o644))
			want := scanned(t, path, nil)
			units, whole := contentOf(t, path, nil)
			if units != nil && !slices.Equal(units, want) {
				t.Fatalf("%s %s: the content has %q\nwant %q", name, what, units, want)
			}
			for _, size := range sizes {
				d := unpack.NewDecoders(3, int64(size)*99)
				d.PieceBytes = size
				if got := scanned(t, path, d); !slices.Equal(got, want) {
					t.Fatalf("%s %s in pieces of %d: %q\nwant %q", name, what, size, got, want)
				}
				if _, got := contentOf(t, path, d); got != whole {
					t.Fatalf("%s %s in pieces of %d: content %q\nwant %q", name, what, size, got, whole)
				}
				if n := d.Room.Held(); n != 0 {
					t.Fatalf("%s %s in pieces of %d: %d bytes are held at the end", name, what, size, n)
				}
			}
		}
		for size := 1; size < len(content)+2; size += 1 + size/long.Or(3, 20) {
			same("whole", content, size)
		}
		for offset := 5; offset < len(content); offset += 1 + len(content)/long.Or(20, 60) {
			same(fmt.Sprint("cut at ", offset), content[:offset], 1, 100)
			damaged := content[:offset] + string([]byte{content[offset] ^ 0x10}) + content[offset+1:]
			same(fmt.Sprint("damaged at ", offset), damaged, 1, 100)
		}
	}
}

// TestLargePieces checks that the same holds for pieces that are larger than buffers, and if damage is found after many
// pieces were read ahead.
func TestLargePieces(t *testing.T) {
	var records []string
	for i := range 20 { // several pieces; some of them are read at the same time
		records = append(records, record("conversion", noise(100_000, uint64(i)), "WARC-Target-URI", fmt.Sprint("u", i),
			"Content-Type", "text/plain"))
	}
	records[7] = "nonsense"
	sound := gzipped(t, gzip.BestSpeed, records...)
	path := filepath.Join(t.TempDir(), "a.warc.gz")
	for what, change := range map[string]func([]byte) []byte{
		"whole":        func(b []byte) []byte { return b },
		"damaged":      func(b []byte) []byte { b[100_000] ^= 1; return b },
		"damaged late": func(b []byte) []byte { b[len(b)-50_000] ^= 1; return b },
		"cut":          func(b []byte) []byte { return b[:len(b)-10] },
	} {
		must.Do(t, os.WriteFile(path, change([]byte(sound)), 0o644))
		want := scanned(t, path, nil)
		_, whole := contentOf(t, path, nil)
		d := unpack.NewDecoders(16, 64<<20)
		if got := scanned(t, path, d); !slices.Equal(got, want) {
			t.Errorf("%s: %d, want %d", what, len(got), len(want))
		}
		if _, got := contentOf(t, path, d); got != whole {
			t.Errorf("%s: another content", what)
		}
	}
}

// TestZstdFrames checks that frames without content, before others or between them, are skipped. The first frame may
// have the dictionary of all others, compressed or not.
func TestZstdFrames(t *testing.T) {
	var lines, samples []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf(`{"id":"%d","text":"The river rose %d metres in the lower town"}`, i, i)+"\n")
		samples = append(samples, strings.Repeat(lines[i], 4))
	}
	skippable := func(kind byte, content string) string {
		return string(binary.LittleEndian.AppendUint32([]byte{kind, 0x2a, 0x4d, 0x18}, uint32(len(content)))) + content
	}
	var contents [][]byte
	for _, s := range samples {
		contents = append(contents, []byte(s))
	}
	dictionary, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 7, Contents: contents, History: []byte(samples[0] + samples[1]),
		Offsets: [3]int{1, 4, 8}})
	must.Do(t, err)
	w, err := zstd.NewWriter(nil, zstd.WithEncoderDict(dictionary))
	must.Do(t, err)
	var with string
	for _, line := range lines {
		with += string(w.EncodeAll([]byte(line), nil))
	}
	want := strings.Join(lines, "")
	for name, c := range map[string]struct{ content, want string }{
		"first":                   {skippable(0x50, "hello") + zst(t, lines...), want},
		"between":                 {skippable(0x5f, "") + zst(t, lines[:9]...) + skippable(0x51, "x") + zst(t, lines[9:]...), want},
		"a dictionary":            {skippable(0x5d, string(dictionary)) + with, want},
		"a compressed dictionary": {skippable(0x5d, zst(t, string(dictionary))) + with, want},
		"no dictionary":           {skippable(0x5d, "something else") + zst(t, lines...), want},
		"a cut dictionary":        {skippable(0x5d, zst(t, string(dictionary)))[:99], ""},
		"a large one":             {"\x5d\x2a\x4d\x18\xff\xff\xff\x7f", ""},
		"alone":                   {skippable(0x50, "hello"), ""},
	} {
		for _, d := range []*unpack.Decoders{nil, unpack.NewDecoders(2, 1<<20)} {
			tree(t, map[string]string{"a.jsonl.zst": c.content})
			f, err := Open(t.Context(), input.File{Path: "a.jsonl.zst"}, Options{Decoders: d})
			if err != nil {
				if c.want != "" || !errors.Is(err, unpack.ErrDamaged) {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			got, err := io.ReadAll(f)
			f.Close()
			if string(got) != c.want || (err == nil) != (c.want != "" || name == "alone") {
				t.Errorf("%s: %.80q, %v", name, got, err)
			}
		}
	}
}
