package idlist

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// zstdBlockMax is what a block of a zstd frame unpacks to at most (RFC 8878, 3.1.1.2.4).
const zstdBlockMax = 128 << 10

// checkFrame refuses what is not one zstd frame, or a frame that says to unpack to more than its
// blocks can: a decoder makes room for what a frame says before it looks at them.
func checkFrame(frame []byte) error {
	var h zstd.Header
	if err := h.Decode(frame); err != nil {
		return err
	}
	if h.Skippable {
		return errors.New("a zstd frame without content")
	}
	most, at := uint64(0), h.HeaderSize
	for last := false; !last; {
		if len(frame)-at < 3 {
			return errors.New("a zstd frame without its last block")
		}
		head := int(frame[at]) | int(frame[at+1])<<8 | int(frame[at+2])<<16
		last = head&1 != 0
		size := head >> 3
		at += 3
		switch head >> 1 & 3 {
		case 0: // as it is
			most += uint64(size)
		case 1: // one byte, repeated
			most += uint64(size)
			size = 1
		default:
			most += zstdBlockMax
		}
		if size > len(frame)-at {
			return errors.New("a block of a zstd frame runs past the end")
		}
		at += size
	}
	if h.HasCheckSum {
		at += 4
	}
	if at != len(frame) {
		return fmt.Errorf("a zstd frame of %d bytes in %d", at, len(frame))
	}
	if h.HasFCS && h.FrameContentSize > most {
		return fmt.Errorf("a zstd frame that says %d bytes and has at most %d", h.FrameContentSize, most)
	}
	return nil
}
