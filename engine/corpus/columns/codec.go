package columns

import (
	"bytes"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// What a byte can become at most, by codecs that say no size that can be believed.
const (
	snappyRatio = 32
	lz4Ratio    = 256
	zstdRatio   = 32 << 10 // a block of 128 KiB takes 4 bytes at least
	zstdSpare   = 256 << 10
)

// packedSpare is how many more bytes than decompressed a page may take, beside a fourth of these: snappy's worst is a sixth.
const packedSpare = 64 << 10

// decompressor decompresses pages. It keeps its memory from page to page.
type decompressor struct {
	zstd *zstd.Decoder
	gzip *gzip.Reader
}

// close gives back what a decoder holds.
func (d *decompressor) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}

// page decompresses a page into memory of to, which may grow. It must have size bytes then.
func (d *decompressor) page(to []byte, codec format.CompressionCodec, packed []byte, size int) ([]byte, error) {
	to = to[:0]
	var err error
	switch codec {
	case format.Uncompressed:
		to = append(to, packed...)
	case format.Snappy:
		to, err = unpackSnappy(to, packed, size)
	case format.Lz4Raw:
		if int64(size) > 64+lz4Ratio*int64(len(packed)) {
			return nil, corrupt("%d bytes that become %d", len(packed), size)
		}
		to = grow(to, size)
		var n int
		if n, err = lz4.UncompressBlock(packed, to); err == nil {
			to = to[:n]
		}
	case format.Zstd:
		to, err = d.unpackZstd(to, packed, size)
	case format.Gzip:
		if d.gzip == nil {
			d.gzip = new(gzip.Reader)
		}
		if err = d.gzip.Reset(bytes.NewReader(packed)); err == nil {
			to, err = readMax(to, d.gzip, size)
		}
	case format.Brotli:
		to, err = readMax(to, brotli.NewReader(bytes.NewReader(packed)), size)
	default:
		return nil, errors.New("compressed by " + codec.String() + ", which is not read")
	}
	if err != nil {
		return nil, corrupt("%v", err)
	}
	if len(to) != size {
		return nil, corrupt("%d bytes are decompressed where it claims %d", len(to), size)
	}
	return to, nil
}

func unpackSnappy(to, packed []byte, size int) ([]byte, error) {
	if n, err := snappy.DecodedLen(packed); err != nil || n != size || int64(n) > 64+snappyRatio*int64(len(packed)) {
		return nil, corrupt("%d bytes that become %d", len(packed), n)
	}
	return snappy.Decode(grow(to, size), packed)
}

// unpackZstd decompresses frames, to size bytes and no more.
func (d *decompressor) unpackZstd(to, packed []byte, size int) (_ []byte, err error) {
	if int64(size) > zstdSpare+zstdRatio*int64(len(packed)) {
		return nil, corrupt("%d bytes that become %d", len(packed), size)
	}
	if d.zstd == nil {
		if d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true)); err != nil {
			return nil, err
		}
	}
	return d.zstd.DecodeAll(packed, grow(to, size)[:0:size])
}

// readMax reads size bytes, and one more if there is one, into memory that grows as they come.
func readMax(to []byte, r io.Reader, size int) ([]byte, error) {
	b := bytes.NewBuffer(to)
	_, err := b.ReadFrom(io.LimitReader(r, int64(size)+1))
	return b.Bytes(), err
}

// grow returns size bytes, in the memory of b where that is enough.
func grow(b []byte, size int) []byte {
	if cap(b) < size {
		return make([]byte, size)
	}
	return b[:size]
}
