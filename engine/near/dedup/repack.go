package dedup

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"math"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ndd/engine/corpus/document"
)

// without copies a content but for the cuts, compressed as it was, in members of which
// one begins at each start.
func without(w io.Writer, content *document.Content, cuts []cut, starts []int64) error {
	var out packer
	switch content.Packing {
	case document.Gzip:
		out = gzip.NewWriter(w)
	case document.Zstd, document.Xz, document.Bzip2: // nothing writes the last two
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
		if _, err := io.CopyN(io.Discard, c.in, cut.to-cut.from); err != nil { // Discard takes an int, and a cut may be beyond one
			return cmp.Or(err, out.Close())
		}
		c.at = cut.to
	}
	err := c.copy(math.MaxInt64)
	return cmp.Or(err, out.Close())
}

// A packer compresses what is written, or does not.
type packer interface {
	io.WriteCloser
	Reset(to io.Writer) // begins anew, after Close
}

// unpacked is the packer of a file that is not compressed.
type unpacked struct{ io.Writer }

// Close does nothing.
func (unpacked) Close() error { return nil }

// Reset does nothing.
func (unpacked) Reset(io.Writer) {}

// copying is the state of copying one file.
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
