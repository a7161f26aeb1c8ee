package wal

import (
	"encoding/binary"
	"fmt"

	"github.com/minio/highwayhash"

	"example.org/ndd/engine/storage/store"
)

// Sizes of the format, in bytes.
const (
	headerBytes = 72
	frameHead   = 32
	alignBytes  = 8
	frameMax    = RecordMax + 2*batchBytes // maximum length of a frame's records, with their length fields

	// Version is the version of the format that this package writes.
	Version = 1
)

const (
	damaged  = "damaged since it was written; restore it from a backup"
	restore  = "copy it again from where the index was copied from, or restore a backup"
	mismatch = "checksum mismatch: " + damaged
)

// A header is the beginning of a file.
type header struct {
	log    [16]byte // ID of the log, the same in all its files
	file   [16]byte // random identity of this file
	number uint64
	first  Position // position of the first record of the file
}

func (h *header) append(dst []byte) []byte {
	begin := len(dst)
	dst = append(dst, store.LogMagic[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, Version)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = append(dst, h.log[:]...)
	dst = append(dst, h.file[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, h.number)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.first))
	return binary.LittleEndian.AppendUint64(dst, h.sum(0, dst[begin:]))
}

// parse reads the header from the beginning of a file. It returns "" or a description of the error.
func (h *header) parse(b []byte) (reason string) {
	if len(b) < headerBytes {
		return fmt.Sprintf("the file ends after %d bytes: %s", len(b), restore)
	}
	if [8]byte(b[:8]) != store.LogMagic {
		return "not a write-ahead log (no magic)"
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != Version {
		writer := "an older"
		if v > Version {
			writer = "a newer"
		}
		return fmt.Sprintf("format version %d, this ndd reads version %d: %s one wrote it; open it with that, and "+
			"stop it cleanly", v, Version, writer)
	}
	h.log, h.file = [16]byte(b[16:32]), [16]byte(b[32:48])
	h.number = binary.LittleEndian.Uint64(b[48:])
	h.first = Position(binary.LittleEndian.Uint64(b[56:]))
	if binary.LittleEndian.Uint64(b[64:]) != h.sum(0, b[:64]) {
		return mismatch
	}
	return ""
}

// sum returns the checksum of data at a byte offset of the file: HighwayHash-64 with the key file identity | number |
// offset.
func (h *header) sum(offset int64, data []byte) uint64 {
	var key [highwayhash.Size]byte
	copy(key[:16], h.file[:])
	binary.LittleEndian.PutUint64(key[16:], h.number)
	binary.LittleEndian.PutUint64(key[24:], uint64(offset))
	return highwayhash.Sum64(data, key[:])
}

// A frame is a group of records that were written together.
type frame struct {
	offset  int64    // offset in the file
	synced  int64    // bytes of the file that were durable when it was written
	first   Position // position of its first record; in the last frame of a complete file, of the next record
	records int      // number of records; 0 in that last frame
	body    []byte   // the records that were read, with their length fields
}

// appendRecord appends a record with its length field.
func appendRecord(dst, record []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(record)))
	return append(dst, record...)
}

// seal completes b, which has space for the head and contains the records, and returns the frame.
func (h *header) seal(b []byte, f frame) []byte {
	length := len(b) - frameHead
	for len(b)%alignBytes > 0 {
		b = append(b, 0)
	}
	binary.LittleEndian.PutUint32(b[8:], uint32(length))
	binary.LittleEndian.PutUint32(b[12:], uint32(f.records))
	binary.LittleEndian.PutUint64(b[16:], uint64(f.first))
	binary.LittleEndian.PutUint64(b[24:], uint64(f.synced))
	binary.LittleEndian.PutUint64(b, h.sum(f.offset, b[8:]))
	return b
}

// parse reads the head of the frame at offset f.offset and returns the size of the frame. It returns 0 if the head is
// inconsistent with the file. It does not verify the checksum.
func (f *frame) parse(file []byte) (size int64) {
	free := int64(len(file)) - f.offset
	if free < frameHead {
		return 0
	}
	b := file[f.offset:]
	length := int64(binary.LittleEndian.Uint32(b[8:]))
	f.records = int(binary.LittleEndian.Uint32(b[12:]))
	f.first = Position(binary.LittleEndian.Uint64(b[16:]))
	f.synced = int64(binary.LittleEndian.Uint64(b[24:]))
	size = frameHead + (length+alignBytes-1)/alignBytes*alignBytes
	if length > frameMax || size > free || f.synced < headerBytes || f.synced > f.offset {
		return 0
	}
	f.body = b[frameHead : frameHead+length]
	return size
}

// sound reports whether the checksum of the frame is right. The frame has size bytes.
func (h *header) sound(file []byte, f *frame, size int64) bool {
	b := file[f.offset : f.offset+size]
	return binary.LittleEndian.Uint64(b) == h.sum(f.offset, b[8:])
}

// each calls do with each record of the frame. It returns a reason if the records do not fill the frame.
func (f *frame) each(do func(position Position, record []byte) error) (reason string, err error) {
	b := f.body
	for i := range f.records {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return fmt.Sprintf("record %d does not fit its frame", i), nil
		}
		n := 4 + int(binary.LittleEndian.Uint32(b))
		if err := do(f.first+Position(i), b[4:n:n]); err != nil {
			return "", err
		}
		b = b[n:]
	}
	if len(b) > 0 {
		return "bytes that belong to no record", nil
	}
	return "", nil
}
