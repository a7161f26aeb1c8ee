package dedup

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ndd/engine/corpus/document"
)

// Copies are the names under which the files of some inputs are copied: their
// paths below the deepest folder that holds all inputs.
//
//	crawl.jsonl.gz         ->  crawl.jsonl.gz
//	pages/                 ->  what is in pages
//	2024/a.jsonl 2025/     ->  2024/a.jsonl, and 2025/ with what is in it
type Copies struct {
	root  string
	names map[string]bool
}

// Has says whether a copy has that name, a path relative to the folder of the copies.
func (c *Copies) Has(name string) bool { return c.names[name] }

// NewCopies finds the names and refuses what cannot be copied to the folder
// dir: standard input, a file that is named twice, and a dir within an input,
// where the copies would be inputs of the next run.
func NewCopies(ctx context.Context, inputs []string, dir string) (*Copies, error) {
	target, err := real(filepath.Dir(filepath.Clean(dir)))
	if err != nil {
		return nil, err
	}
	target = filepath.Join(target, filepath.Base(dir))
	c := &Copies{}
	first := true
	for f, err := range document.Files(ctx, inputs) {
		if _, skipped := errors.AsType[*document.Skip](err); skipped {
			continue
		}
		if err != nil {
			return nil, err
		}
		if document.ReadOnce(f.Path) {
			return nil, fmt.Errorf("%s is a pipe and has no name to be copied to: put it in a file", f.Path)
		}
		top := f.Root
		if top == "" {
			top = filepath.Dir(f.Path)
		}
		if top, err = real(top); err != nil {
			return nil, err
		}
		if f.Root != "" && within(target, top) {
			return nil, fmt.Errorf("%s lies in the input %s: copies would be inputs of the next run", dir, f.Root)
		}
		if first {
			c.root, first = top, false
		}
		for !within(top, c.root) {
			c.root = filepath.Dir(c.root)
		}
	}
	c.names = map[string]bool{}
	for f, err := range document.Files(ctx, inputs) {
		if err != nil {
			continue // it came up before
		}
		name, err := c.name(f)
		if err != nil {
			return nil, err
		}
		if c.names[name] {
			return nil, fmt.Errorf("%s is named twice among the inputs", f.Path)
		}
		c.names[name] = true
	}
	return c, nil
}

// real is an absolute path without links.
func real(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// within tells whether path is dir or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func (c *Copies) name(f document.File) (string, error) {
	dir, err := real(filepath.Dir(f.Path))
	if err != nil {
		return "", err
	}
	return filepath.Rel(c.root, filepath.Join(dir, filepath.Base(f.Path)))
}

// A Create makes a file of that name, which may have folders in it, and fills it.
type Create func(name string, fill func(w io.Writer) error) error

// Copy reads the inputs again and copies them without what was dropped.
//
// JSONL, CSV and WARC files are copied without the lines or records that can go, byte
// for byte, compressed as they were, WARC records each by itself; lines that are no
// documents, or have too few features to be compared, stay, and so do WARC records
// of other types. A file that is one document is copied as
// it is if it is kept. Files that hold no documents are not copied.
func (r *Result) Copy(ctx context.Context, names *Copies, meter *document.Meter, create Create) error {
	c := r.corpus
	if err := c.readable(); err != nil {
		return err
	}
	opts := c.options
	opts.Meter = meter
	k := &copier{ctx: ctx, corpus: c, opts: opts, gone: r.gone(), extractor: document.NewExtractor(opts), row: -1}
	for f, err := range document.Files(ctx, c.inputs) {
		if _, skipped := errors.AsType[*document.Skip](err); skipped {
			continue
		}
		if err != nil {
			return err
		}
		if err := k.file(f, names, create); err != nil {
			return err
		}
	}
	if k.unit != c.scanned {
		return changed(strings.Join(c.inputs, ", "))
	}
	return nil
}

// copier is the state of one Copy.
type copier struct {
	ctx       context.Context
	corpus    *Corpus
	opts      document.Options
	gone      bitmap
	extractor *document.Extractor
	unit, row int // counted so far
}

// cut is a range of bytes that is left out.
type cut struct{ from, to int64 }

func (k *copier) file(f document.File, names *Copies, create Create) error {
	x, err := k.scan(f)
	if err != nil {
		return err
	}
	content, err := f.Open(k.ctx, k.corpus.options, x.gaps)
	if err != nil {
		if (f.Root != "" || errors.Is(err, document.ErrDamaged)) && k.ctx.Err() == nil {
			return nil // unreadable, as the first time
		}
		return err
	}
	defer content.Close()
	content.Reader = io.LimitReader(content.Reader, x.whole)
	if !content.Rows && (x.units == 0 || x.kept == 0) {
		return nil
	}
	name, err := names.name(f)
	if err != nil {
		return err
	}
	return create(name, func(w io.Writer) error {
		if !content.Rows {
			return copyFile(w, f.Path)
		}
		if !content.Members {
			x.starts = nil
		}
		return without(w, content, x.cuts, x.starts)
	})
}

// scanned is what was found in a file.
type scanned struct {
	units, kept int
	cuts        []cut          // to leave out
	starts      []int64        // of records that stay
	gaps        []document.Gap // where it is damaged and goes on
	whole       int64          // where it is damaged and does not
}

func (k *copier) scan(f document.File) (x scanned, err error) {
	x.whole = math.MaxInt64
	for u, err := range f.Scan(k.ctx, k.opts, nil) {
		if skip, skipped := errors.AsType[*document.Skip](err); skipped {
			switch {
			case skip.ResumedAt > 0:
				x.gaps = append(x.gaps, document.Gap{At: skip.At, ResumedAt: skip.ResumedAt})
				continue // a record begins there that comes up itself
			case skip.Reason == document.Unreadable:
				x.whole = skip.At
			}
			x.starts = append(x.starts, skip.At)
			continue
		}
		if err != nil {
			return x, err
		}
		x.units++
		isRow := k.corpus.units.has(k.unit)
		if k.unit++; isRow {
			k.row++
		}
		if !isRow || !k.gone.has(k.row) {
			x.kept++
			x.starts = append(x.starts, u.From)
			continue
		}
		if doc, err := k.extractor.Extract(u); err != nil || !k.corpus.same(uint32(k.row), &doc) {
			return x, changed(k.corpus.ID(uint32(k.row)))
		}
		x.cuts = append(x.cuts, cut{u.From, u.To})
	}
	return x, nil
}

func copyFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// without copies a content but for the cuts, compressed as it was, in members of which
// one begins at each start.
func without(w io.Writer, content *document.Content, cuts []cut, starts []int64) error {
	var out packer
	switch content.Packing {
	case document.Gzip:
		out = gzip.NewWriter(w)
	case document.Zstd:
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		out = z
	default:
		out = unpacked{w}
	}
	c := copying{in: bufio.NewReaderSize(content, 1<<17), out: out, to: w, starts: starts}
	for _, cut := range cuts {
		if err := c.copy(cut.from); err != nil {
			return cmp.Or(err, out.Close())
		}
		if _, err := c.in.Discard(int(cut.to - cut.from)); err != nil {
			return err
		}
		c.at = cut.to
	}
	err := c.copy(math.MaxInt64)
	return cmp.Or(err, out.Close())
}

// packer compresses what is written, or does not.
type packer interface {
	io.WriteCloser
	Reset(to io.Writer) // begins anew, after Close
}

type unpacked struct{ io.Writer }

func (unpacked) Close() error    { return nil }
func (unpacked) Reset(io.Writer) {}

// copying is a file on its way.
type copying struct {
	in     *bufio.Reader
	at     int64 // bytes of in that have been read
	out    packer
	to     io.Writer
	starts []int64 // of members that are ahead
	begun  bool    // there is something in this member
}

// copy copies up to an offset, or the end of the file.
func (c *copying) copy(to int64) error {
	for c.at < to {
		next := to
		for len(c.starts) > 0 && c.starts[0] <= c.at {
			if c.starts[0] == c.at && c.begun {
				if err := c.out.Close(); err != nil {
					return err
				}
				c.out.Reset(c.to)
				c.begun = false
			}
			c.starts = c.starts[1:]
		}
		if len(c.starts) > 0 {
			next = min(next, c.starts[0])
		}
		n, err := io.CopyN(c.out, c.in, next-c.at)
		c.at += n
		c.begun = c.begun || n > 0
		if errors.Is(err, io.EOF) && to == math.MaxInt64 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
