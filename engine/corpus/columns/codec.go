package columns

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// packedSpare is added to 5/4 of the decompressed size to bound the compressed size of a page. Snappy's worst case
// is 7/6.
const packedSpare = 64 << 10

// A decompressor decompresses pages. It writes no more bytes than a page claims to have: the library's own codecs
// have no limit. It reuses its memory for every page.
type decompressor struct {
	zstd *zstd.Decoder
	gzip gzip.Reader
}

// close releases the memory of the decoder.
func (d *decompressor) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}

// page decompresses a page of size bytes into the slice to, which it may grow.
func (d *decompressor) page(to []byte, codec format.CompressionCodec, packed []byte, size int) ([]byte, error) {
	// Each codec writes at most size bytes, or one more.
	var err error
	switch codec {
	case format.Uncompressed:
		to = append(to[:0], packed...)
	case format.Snappy:
		if n, err := snappy.DecodedLen(packed); err != nil || n != size {
			return nil, corrupt("%d bytes that become %d", len(packed), n)
		}
		to, err = snappy.Decode(grow(to, size), packed)
	case format.Lz4Raw:
		var n int
		to = grow(to, size)
		n, err = lz4.UncompressBlock(packed, to)
		to = to[:max(n, 0)]
	case format.Zstd:
		if d.zstd == nil {
			if d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecodeAllCapLimit(true)); err != nil {
				return nil, err
			}
		}
		to, err = d.zstd.DecodeAll(packed, grow(to, size)[:0:size])
	case format.Gzip, format.Brotli:
		var r io.Reader
		if r, err = d.reader(codec, packed, size); err == nil {
			to, err = readMax(to, r, size)
		}
	default:
		return nil, errors.New("compressed by " + codec.String() + ", which is not read")
	}
	// Check the length.
	if err != nil {
		return nil, corrupt("%v", err)
	}
	if len(to) != size {
		return nil, corrupt("%d bytes are decompressed where it claims %d", len(to), size)
	}
	return to, nil
}

// cut decompresses a page of size bytes whose values are texts. It keeps the first maxText bytes of each text, so a
// text beyond the limit is never in memory as a whole. The page begins with blocks of levels, each with its length.
func (d *decompressor) cut(to []byte, codec format.CompressionCodec, packed []byte, size, levels int, maxText int64) (
	[]byte, error) {
	r, err := d.reader(codec, packed, size)
	if err != nil {
		return nil, corrupt("%v", err)
	}
	defer r.Close()
	plain, from := bytes.NewBuffer(to[:0]), bufio.NewReader(r)
	// Copy the levels and the beginning of each text, and pass over the rest.
	for remaining := int64(size); remaining > 0; levels-- {
		var length [4]byte
		if _, err := io.ReadFull(from, length[:]); err != nil {
			return nil, corrupt("%v", err)
		}
		n := int64(binary.LittleEndian.Uint32(length[:]))
		if remaining -= 4 + n; remaining < 0 {
			return nil, corrupt("a text of %d bytes where %d are left", n, remaining+n)
		}
		kept := n
		if levels <= 0 {
			kept = min(n, maxText)
		}
		plain.Grow(int(kept) + bytes.MinRead)
		plain.Write(binary.LittleEndian.AppendUint32(nil, uint32(kept)))
		_, err := io.CopyN(plain, from, kept)
		if err == nil {
			_, err = io.CopyN(io.Discard, from, n-kept)
		}
		if err != nil {
			return nil, corrupt("%v", err)
		}
	}
	return plain.Bytes(), nil
}

// reader returns a reader of a page of size bytes. Codecs of blocks, such as snappy, decompress the whole page first.
func (d *decompressor) reader(codec format.CompressionCodec, packed []byte, size int) (io.ReadCloser, error) {
	from := bytes.NewReader(packed)
	switch codec {
	case format.Zstd:
		r, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(uint64(max(size, 1<<20))))
		if err != nil {
			return nil, err
		}
		return r.IOReadCloser(), nil
	case format.Gzip:
		return &d.gzip, d.gzip.Reset(from)
	case format.Brotli:
		return io.NopCloser(brotli.NewReader(from)), nil
	}
	plain, err := d.page(nil, codec, packed, size)
	return io.NopCloser(bytes.NewReader(plain)), err
}

// readMax reads size bytes, and one more if there is one. Its memory grows with the bytes that arrive.
func readMax(to []byte, r io.Reader, size int) ([]byte, error) {
	b := bytes.NewBuffer(to[:0])
	_, err := b.ReadFrom(io.LimitReader(r, int64(size)+1))
	return b.Bytes(), err
}

// grow returns size bytes. It uses the memory of b if that is large enough.
func grow(b []byte, size int) []byte {
	if cap(b) < size {
		return make([]byte, size)
	}
	return b[:size]
}
