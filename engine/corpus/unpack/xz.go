package unpack

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/ulikunitz/xz/lzma"
)

// xzDictionaryMaxBytes is the dictionary of xz -9. The library allocates it for each block.
const xzDictionaryMaxBytes = 64 << 20

// errXzDictionary is the error of a block that needs a larger dictionary than a reader should take.
var errXzDictionary = fmt.Errorf("its dictionary is larger than %d MiB", xzDictionaryMaxBytes>>20)

// An xzSource is what the xz decoder reads. The decoder allocates the dictionary that a block asks for, and takes a
// file that ends before a block as complete. So each read returns all bytes that the decoder asks for, which shows
// the part of the file that it reads:
//
//	4 bytes                      the begin of a stream, or padding: only here may the file end
//	1 byte n > 0, then 4*n + 3   the header of a block
type xzSource struct {
	r        *bufio.Reader
	lastByte int // the byte that was read last, if it was read alone; else 0
}

func (x *xzSource) Read(p []byte) (n int, err error) {
	if len(p) == 1 { // most of the file
		p[0], err = x.r.ReadByte()
		if x.lastByte = int(p[0]); err == nil {
			return 1, nil
		}
	} else if n, err = io.ReadFull(x.r, p); err == nil && x.lastByte > 0 && len(p) == 4*x.lastByte+3 {
		if err = checkXzBlock(p); err != nil {
			n = 0 // the decoder has no use for an error when it has all bytes
		}
	}
	if x.lastByte = 0; err == io.EOF && len(p) != 4 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// checkXzBlock returns an error if the header of a block asks for too large a dictionary:
//
//	flags | compressed size, if flags&0x40 | size, if flags&0x80 | filter | length 1 | dictionary | ...
func checkXzBlock(header []byte) error {
	fields := header[1:]
	for range bits.OnesCount8(header[0]&0xc0) + 1 {
		_, n := binary.Uvarint(fields)
		if n <= 0 {
			return errors.New("a number in the header of a block does not end")
		}
		fields = fields[n:]
	}
	if len(fields) < 2 {
		return io.ErrUnexpectedEOF
	}
	if size, err := lzma.DecodeDictCap(fields[1]); err == nil && size > xzDictionaryMaxBytes {
		return errXzDictionary
	}
	return nil
}
