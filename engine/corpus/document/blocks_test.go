package document

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go"

	"ndd/engine/corpus/columns"
	"ndd/engine/oracle/must"
)

// TestBlocks: what a scan of lines and records yields depends neither on the size of blocks nor on the
// number of goroutines: not with records over several lines, blank ones at the ends of blocks, quotes
// that are left open or mean nothing, records that are too long, and files that end anywhere.
func TestBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	files := map[string]string{
		"a.jsonl": utf8Mark + " {\"text\":\"one\"}\r\n\n\n{broken\n  \n" + strings.Repeat("{\"text\":\"long \"}", 9) + "\n" +
			utf8Mark + "[1]\n{\"text\":\"end\"}",
		"a.csv": "id,text\n1,one\n\n\n2,\"two\nlines, \"\"quoted\"\"\"\r\n3\n4,bad\"quote\n5,\"a\"b\n6,long" +
			strings.Repeat(" long", 30) + "\n\n7,seven\n",
		"open.csv":  "id,text\n1,one\n2,two\n3,\"three\n4,four\n5,five\n6,six\n",
		"one.csv":   "text\none\nx\n\n\"two\nx\n\"\nthree\n",
		"quote.tsv": "id\ttext\n1\t5\" disk\n2\t\"two\nlines\"\n3\t3\" and\n4\tfour\n5\t\"open\n6\tsix\n7\tseven",
	}
	for _, name := range []string{"random.csv", "random.tsv"} {
		var b strings.Builder
		b.WriteString("id" + separator(name) + "text\n")
		for range 300 {
			b.WriteString([]string{"a", "b c", "\"", "\"\"", "\n", "\r\n", ",", "\t"}[r.IntN(8)])
		}
		files[name] = b.String()
	}
	dir := t.TempDir()
	for name, content := range files {
		packed := gzipped(t, gzip.BestSpeed, content)
		for what, b := range map[string][]byte{name: []byte(content), "cut " + name + ".gz": packed[:len(packed)-9],
			"short " + name: []byte(content[:len(content)*2/3])} {
			path := filepath.Join(dir, what)
			must.Do(t, os.WriteFile(path, b, 0o644))
			for _, most := range []int64{20, 100, 0} {
				want := scannedWith(t, path, Options{MaxDocumentBytes: most})
				if !strings.HasSuffix(name, ".jsonl") && most == 0 {
					if in := inOrder(t, path); !slices.Equal(want, in) {
						t.Fatalf("%s: %q\nin order: %q", what, want, in)
					}
				}
				for size := 1; size < len(content)+50; size += 1 + size/3 {
					one := scannedWith(t, path, Options{MaxDocumentBytes: most, blockBytes: size})
					d := NewDecoders(3, int64(size)*9)
					many := scannedWith(t, path, Options{MaxDocumentBytes: most, blockBytes: size, Decoders: d})
					if !slices.Equal(one, many) {
						t.Fatalf("%s, blocks of %d, %d at most: %q\nby one goroutine %q", what, size, most, many, one)
					}
					if strings.HasSuffix(name, ".jsonl") || most == 0 { // how long a record is is seen some bytes late
						if !slices.Equal(one, want) {
							t.Fatalf("%s, blocks of %d, %d at most: %q\nwant %q", what, size, most, one, want)
						}
					}
					if d.held.Load() != 0 {
						t.Fatalf("%s: %d bytes are held at the end", what, d.held.Load())
					}
				}
			}
		}
	}
}

// TestRowBlocks: what a scan of a Parquet file of one row group yields does not depend on the number of
// goroutines, nor on how its rows are divided: with nulls, dictionaries, lists, several sizes of pages, and
// wherever it is damaged.
func TestRowBlocks(t *testing.T) {
	type row struct {
		ID    string   `parquet:"id,dict"`
		Text  *string  `parquet:"text,optional,zstd"`
		Tags  []string `parquet:"tags,list"`
		Score int64    `parquet:"score"`
	}
	path := filepath.Join(t.TempDir(), "a.parquet")
	for _, pageBytes := range []int{200, 3000} {
		for version := 1; version <= 2; version++ {
			var b bytes.Buffer
			w := parquet.NewGenericWriter[row](&b, parquet.PageBufferSize(pageBytes), parquet.DataPageVersion(version))
			for i := range 200 {
				text := strings.Repeat(fmt.Sprintf("text %d ", i), 1+i%7)
				r := row{fmt.Sprint("id ", i%10), &text, make([]string, i%3), int64(i)}
				if i%10 == 9 {
					r.Text = nil
				}
				_, err := w.Write([]row{r})
				must.Do(t, err)
			}
			must.Do(t, w.Close())
			try := func(content []byte, o Options) {
				must.Do(t, os.WriteFile(path, content, 0o644))
				want := scannedWith(t, path, o)
				for _, threads := range []int{2, 8} {
					for _, size := range []int{1, 300} {
						o.blockBytes, o.Decoders = size, NewDecoders(threads, 40_000)
						if got := scannedWith(t, path, o); !slices.Equal(got, want) {
							t.Fatalf("pages of %d bytes, %d threads, blocks of %d: %q\nwant %q", pageBytes, threads, size, got, want)
						}
						if n := o.Decoders.held.Load(); n != 0 {
							t.Fatalf("%d bytes are held at the end", n)
						}
					}
				}
			}
			f, err := columns.Open(bytes.NewReader(b.Bytes()), int64(b.Len()), 1<<20)
			must.Do(t, err)
			if n := len(f.Ranges(0, []int{0, 1, 3}, rangeBlocks)); n < 3 && pageBytes < 3000 {
				t.Errorf("%d ranges", n)
			}
			f.Close()
			tags := Options{ValueFields: [][]string{{"tags"}}}
			try(b.Bytes(), Options{})
			try(b.Bytes(), tags)
			for n := 0; n < b.Len(); n += 1 + b.Len()/50 {
				damaged := bytes.Clone(b.Bytes())
				damaged[n] ^= 0x55
				try(damaged, Options{ValueFields: [][]string{{"score"}}})
				try(damaged, tags)
				try(b.Bytes()[:n], Options{})
			}
		}
	}
}

// inOrder returns what records yield that are not cut into blocks.
func inOrder(t *testing.T, path string) (got []string) {
	t.Helper()
	opts, err := Options{}.withDefaults()
	must.Do(t, err)
	s := &stream{ctx: t.Context(), file: File{Path: path}, opts: opts}
	s.yield = func(u Unit, err error) bool {
		line := fmt.Sprintf("%d %d %d %q %q", u.Line, u.From, u.To, u.id, u.raw)
		if skip, ok := err.(*Skip); ok {
			line = fmt.Sprintf("%v %d %d %d", err, skip.At, skip.To, skip.ResumedAt)
		}
		got = append(got, line)
		return true
	}
	closer, err := s.open(nil)
	must.Do(t, err)
	defer closer()
	err = s.recordsInOrder(&table{mark: separator(path), most: opts.MaxDocumentBytes}, s.r, 0, 0)
	if skip, ok := err.(*Skip); ok {
		s.skip(skip)
	} else if err != nil {
		s.skip(&Skip{Line: s.line, At: s.good, Reason: Unreadable, Err: err})
	}
	return got
}

// TestBlocksStop: a consumer that stops gives back the memory of the blocks that were read ahead, which
// are not more than there is room for.
func TestBlocksStop(t *testing.T) {
	var b bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&b, "{\"id\":%d,\"text\":\"%d\"}\n", i, i)
	}
	d := NewDecoders(8, 3000)
	n := 0
	for u, err := range Scan(t.Context(), []string{Stdin}, Options{Decoders: d, Format: JSONL, blockBytes: 1000},
		bufio.NewReader(&b)) {
		if err != nil || u.Line != n+1 {
			t.Fatal(u.Line, err)
		}
		if held := d.held.Load(); held > 7000 { // one block of up to twice its size is always allowed
			t.Fatalf("%d bytes are held", held)
		}
		if n++; n == 10_000 {
			break
		}
	}
	if n != 10_000 || d.held.Load() != 0 {
		t.Errorf("%d units, %d bytes are held", n, d.held.Load())
	}
}
