package unpack

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

const (
	zstdWindowMaxBytes = 256 << 20 // larger windows need more memory than a reader should take
	dictionaryMax      = 16 << 20
)

// newZstd returns a decoder of a zstd file. The frames of a WARC file may share a dictionary, which is in a first frame
// without content.
func newZstd(raw *trail) (*zstd.Decoder, error) {
	const header = 8
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(zstdWindowMaxBytes)}
	var dictionary []byte
	head, _ := raw.peek(header)
	if len(head) == header && string(head[:4]) == "\x5d\x2a\x4d\x18" {
		if size := binary.LittleEndian.Uint32(head[4:]); size <= dictionaryMax { // otherwise it is something else
			head, _ = raw.peek(header + int(size))
			dictionary = head[header:]
		}
	}
	if PackingOf(dictionary) == Zstd {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(dictionaryMax))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		if dictionary, err = z.DecodeAll(dictionary, nil); err != nil {
			return nil, Damage(fmt.Errorf("zstd: the dictionary: %w", err))
		}
	}
	if bytes.HasPrefix(dictionary, []byte("\x37\xa4\x30\xec")) {
		options = append(options, zstd.WithDecoderDicts(bytes.Clone(dictionary)))
	}
	return zstd.NewReader(raw, options...)
}
