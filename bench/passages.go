package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/engine/corpus/ingest"
	"ndd/engine/passages"
	"ndd/engine/result"
	"ndd/engine/storage/disk"
)

// repeatedPassages finds repeated lines, and repeated strings of 100 bytes, in text of which one document
// in ten has a line of another, one in ten an excerpt of it, and one in a hundred a footer.
//
// Napkin for a processor and 1 GB: 200 MB/s of lines of 400 bytes, 5 s; strings 20 MB/s, 50 s.
func repeatedPassages(ctx context.Context, b *bench, r *Result) error {
	r.Columns = []string{"MB/s of processor time", "s", "growth", "spans", "memory MB", "disk MB", "bytes a byte"}
	for _, unit := range []passages.Unit{{Kind: passages.Lines, Length: 1}, {Kind: passages.Bytes, Length: 100}} {
		each := 0.0 // processor time of a byte, of the smaller text
		for _, size := range []int{10 * b.n, 100 * b.n} {
			b.say("%s, %s of text", unit, humanize.Bytes(uint64(size)))
			p, err := writePlanted(filepath.Join(b.dir, "planted.jsonl"), size)
			if err != nil {
				return err
			}
			var use usage
			var used []float64
			took, err := b.repeat(func() error {
				began := processorTime()
				err := p.find(ctx, b.dir, unit, &use)
				used = append(used, (processorTime() - began).Seconds())
				return err
			})
			if err != nil {
				return fmt.Errorf("%s in %d bytes: %w", unit, size, err)
			}
			processor := median(used)
			own := processor.Value / float64(p.bytes)
			each = cmp.Or(each, own)
			r.row(fmt.Sprintf("%s, %s", unit, humanize.Bytes(uint64(p.bytes))), processor.rate(float64(p.bytes)/1e6), took,
				own/each, use.spans, float64(use.memory)/1e6, float64(use.disk)/1e6,
				float64(use.memory+use.disk)/float64(p.bytes))
		}
	}
	r.note("JSON lines of invented text, 3 KB a document; one thread reads, cuts, sorts, finds, and writes a table of spans")
	r.note("growth: processor time of a byte, relative to the smaller text; memory: the most of this process, less " +
		"than before, without the mapped text; disk: the most of temporary files, less the text itself")
	r.note("verified: the lines are those that a table of counts finds; of strings every planted one is covered, and what " +
		"goes is no more than these but for some bytes")
	return nil
}

// A plantedText has repeats at known places.
type plantedText struct {
	path  string
	bytes int
	spans int           // lines that stand at several places
	cut   int           // bytes of these but the first
	at    map[int][]cut // of documents, what of them stands before and is of 100 bytes
}

type cut = passages.Cut

// writePlanted writes documents of about a number of bytes.
func writePlanted(path string, bytes int) (_ *plantedText, err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	defer func() {
		err = closing(f, cmp.Or(err, out.Flush()))
	}()
	p := &plantedText{path: path, at: map[int][]cut{}}
	c := newEnglish(7)
	const footer = "All rights are reserved. No part of this text may be copied, but where a benchmark has to find what was " +
		"copied, and to say from where."
	seed := maphash.MakeSeed()
	seen := map[uint64]bool{} // lines: whether they are repeated
	for i := 0; p.bytes < bytes; i++ {
		text := strings.TrimSpace(c.text(i, 3000)) + "\n"
		plant := func(again string) {
			if len(again) >= 100 {
				p.at[i] = append(p.at[i], cut{From: len(text), To: len(text) + len(again)})
			}
			text += again + "\n"
		}
		before := ""
		if i%10 > 7 {
			before = c.text(i-5, 3000)
		}
		switch i % 10 {
		case 8:
			line, _, _ := strings.Cut(before, "\n")
			plant(strings.TrimSpace(line))
		case 9:
			from := i % (len(before) / 2)
			plant(strings.TrimSpace(before[from : from+300+i%500]))
		}
		if i%100 == 50 {
			if i > 50 {
				plant(footer)
			} else {
				text += footer + "\n"
			}
		}
		for line := range strings.Lines(text) {
			trimmed := strings.TrimSpace(line)
			if len(trimmed) < 20 {
				continue
			}
			h := maphash.String(seed, trimmed)
			repeated, again := seen[h]
			if seen[h] = again; !again {
				continue
			}
			if p.spans++; !repeated {
				p.spans++ // the first one, too
			}
			p.cut += len(line)
		}
		line, err := json.Marshal(map[string]string{"id": fmt.Sprint("document ", i), "text": text})
		if err != nil {
			return nil, err
		}
		out.Write(append(line, '\n'))
		p.bytes += len(text)
	}
	return p, nil
}

// usage is what finding took, and how many spans it found.
type usage struct {
	memory, disk uint64
	spans        int
}

// find finds the repeats of a text, writes a table, and verifies it.
func (p *plantedText) find(ctx context.Context, dir string, unit passages.Unit, use *usage) (err error) {
	stop := use.watch()
	files := &tempBytes{sizes: map[string]int{}}
	defer func() {
		stop()
		use.disk = uint64(files.most)
	}()
	r, _, err := passages.Find(ctx, []string{p.path}, ingest.Config{Threads: 1}, passages.Options{Unit: unit, MinChars: 20,
		Ignore: passages.IgnoreSpace, Threads: 1, MemoryBytes: 64 << 20, Dir: dir, Disk: disk.Hooked(files)})
	if err != nil {
		return err
	}
	defer r.Close()
	table, err := os.Create(filepath.Join(dir, "spans.tsv"))
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(table, 1<<20)
	defer func() { err = closing(table, cmp.Or(err, out.Flush())) }()
	w := result.NewTableWriter(out, result.TSV, result.Column{Name: "id", Kind: result.Text},
		result.Column{Name: "from", Kind: result.Integer}, result.Column{Name: "to", Kind: result.Integer},
		result.Column{Name: "first", Kind: result.Text})
	use.spans = 0
	gone, documents := 0, 0
	for d := range r.Documents() {
		for _, s := range d.Spans {
			if err := w.Text(d.ID).Integer(int64(s.From)).Integer(int64(s.To)).Text(s.First.ID).End(); err != nil {
				return err
			}
		}
		use.spans += len(d.Spans)
		gone += d.CutBytes()
		if unit.Kind != passages.Bytes {
			continue
		}
		planted := 0
		for _, want := range p.at[d.Row] {
			planted += want.To - want.From
			covered := false
			for _, s := range d.Spans {
				covered = covered || !s.Kept && s.From <= want.From && s.To >= want.To
			}
			if !covered {
				return fmt.Errorf("%s: bytes %d to %d stand before, and no span has them", d.ID, want.From, want.To)
			}
		}
		if planted > 0 {
			documents++
		}
		if more := d.CutBytes() - planted; more > 64*len(p.at[d.Row]) {
			return fmt.Errorf("%s: %d bytes more found than were planted", d.ID, more)
		}
	}
	switch {
	case unit.Kind == passages.Bytes && documents != len(p.at):
		return fmt.Errorf("repeats in %d documents, planted in %d", documents, len(p.at))
	case unit.Kind == passages.Lines && (use.spans != p.spans || gone != p.cut):
		return fmt.Errorf("%d spans of %d bytes, want %d of %d", use.spans, gone, p.spans, p.cut)
	}
	return w.Close()
}

// watch follows the memory of this process, without mapped files, until the returned function is called.
func (u *usage) watch() (stop func()) {
	debug.FreeOSMemory()
	used := func() uint64 { return statusBytes(os.Getpid(), "RssAnon") }
	before := used()
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
			u.memory = max(u.memory, max(used(), before)-before)
		}
	})
	return func() {
		cancel()
		watching.Wait()
	}
}

// tempBytes counts the bytes of temporary files, but for those of texts.
type tempBytes struct {
	mu        sync.Mutex
	sizes     map[string]int
	now, most int
}

func (t *tempBytes) Before(*disk.Op) error { return nil }

func (t *tempBytes) After(op *disk.Op) {
	if strings.Contains(op.Path, "texts") {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch op.Call {
	case disk.CallWrite:
		t.sizes[op.Path] += len(op.Data)
		t.now += len(op.Data)
		t.most = max(t.most, t.now)
	case disk.CallClose:
		t.now -= t.sizes[op.Path]
		delete(t.sizes, op.Path)
	}
}
