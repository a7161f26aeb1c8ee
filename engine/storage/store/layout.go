package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/minio/highwayhash"
)

// Sizes of the format, in bytes.
const (
	pageBytes    = 4096    // header; alignment of a section
	blockBytes   = 1 << 16 // bytes that one checksum covers
	entryBytes   = 64      // a section's entry in the footer
	trailerBytes = 64
	nameMax      = 32 // a section's name

	// Version is the version of the format that this package writes.
	Version  = 1
	sumBytes = 8
	// sectionsMax limits the footer: 16 M sections are enough for a fingerprint file of 5e12 documents.
	sectionsMax = 1 << 24
)

var (
	headMagic = [8]byte{'n', 'd', 'd', 'h', 'e', 'a', 'd', '\n'}
	tailMagic = [8]byte{'n', 'd', 'd', 't', 'a', 'i', 'l', '\n'}

	// LogMagic is the beginning of a file of package wal.
	LogMagic = [8]byte{'n', 'd', 'd', 'l', 'o', 'g', '\r', '\n'}
)

// A Kind is the type of a file. Readers refuse files of other kinds.
type Kind uint32

// The kinds of files.
const (
	KindFingerprints Kind = 1 // .ndf: documents' fingerprints and names
	KindSegment      Kind = 2 // one segment of an index
	KindManifest     Kind = 3 // the list of an index's segments
	KindDocuments    Kind = 4 // file of a segment: numbers of its documents, index of their IDs, deletions
	KindSignatures   Kind = 5 // signatures of documents, to find copies
	KindSketches     Kind = 6 // file of a segment: its documents' sketches
	KindWork         Kind = 7 // results for input files, to resume a run
	KindShare        Kind = 8 // results for a share of the input files, to join the shares
	KindLog          Kind = 9 // file of a log (package wal), which has another layout
)

var kindNames = map[Kind]string{KindFingerprints: "fingerprint file", KindSegment: "index segment",
	KindManifest: "index manifest", KindDocuments: "index documents", KindSignatures: "signature file", KindSketches: "sketches of documents",
	KindWork: "work file", KindShare: "share file", KindLog: "write-ahead log"}

func (k Kind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("file of kind %d", uint32(k))
}

// An Identity distinguishes files and their generations. It is part of the key of every checksum, so that a block of
// one file does not verify as a block of another file.
type Identity struct {
	ID         [16]byte // random
	Generation uint64   // generation of the index that the file belongs to
}

// Section numbers for the other parts of a file.
const (
	headerSection  = 1<<24 + 1
	sumsSection    = 1<<24 + 2 // block = number of the section with these sums
	footerSection  = 1<<24 + 3
	trailerSection = 1<<24 + 4
)

// sum returns the checksum of data as a block of a section: HighwayHash-64 with the key ID | generation | section *
// 2^39 + block. Section numbers are at most 2^24 + 4, and a section has at most 2^38 blocks of 64 KiB.
func (id *Identity) sum(section, block uint64, data []byte) uint64 {
	var key [highwayhash.Size]byte
	copy(key[:16], id.ID[:])
	binary.LittleEndian.PutUint64(key[16:], id.Generation)
	binary.LittleEndian.PutUint64(key[24:], section<<39|block)
	return highwayhash.Sum64(data, key[:])
}

// header is the first page of a file.
//
//	 0  magic "nddhead\n"     8
//	 8  version               4
//	12  kind                  4
//	16  identity             16
//	32  generation            8
//	40  zeros to 4088
//	4088 checksum             8
type header struct {
	kind Kind
	Identity
}

func (h *header) append(dst []byte) []byte {
	begin := len(dst)
	dst = append(dst, make([]byte, pageBytes)...)
	b := dst[begin:]
	copy(b, headMagic[:])
	binary.LittleEndian.PutUint32(b[8:], Version)
	binary.LittleEndian.PutUint32(b[12:], uint32(h.kind))
	copy(b[16:32], h.ID[:])
	binary.LittleEndian.PutUint64(b[32:], h.Generation)
	binary.LittleEndian.PutUint64(b[pageBytes-sumBytes:], h.sum(headerSection, 0, b[:pageBytes-sumBytes]))
	return dst
}

// parse reads the header from the first page. It returns "" or a description of the error.
func (h *header) parse(b []byte) (reason string) {
	if len(b) < pageBytes || [8]byte(b[:8]) != headMagic {
		return "not a file of ndd (no magic)"
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != Version {
		writer := "an older"
		if v > Version {
			writer = "a newer"
		}
		return fmt.Sprintf("format version %d, this ndd reads version %d: %s one wrote it; read it with that, or make "+
			"it again with this", v, Version, writer)
	}
	h.kind = Kind(binary.LittleEndian.Uint32(b[12:]))
	h.ID = [16]byte(b[16:32])
	h.Generation = binary.LittleEndian.Uint64(b[32:])
	if binary.LittleEndian.Uint64(b[pageBytes-sumBytes:]) != h.sum(headerSection, 0, b[:pageBytes-sumBytes]) {
		return mismatch
	}
	return ""
}

// entry is a section in the footer.
//
//	 0  name, zero padded    32
//	32  offset                8   multiple of 4096
//	40  length                8   without padding
//	48  digest of its sums    8
//	56  zeros                 8
type entry struct {
	name           string
	offset, length uint64
	digest         uint64
}

func (e *entry) append(dst []byte) []byte {
	begin := len(dst)
	dst = append(dst, make([]byte, entryBytes)...)
	b := dst[begin:]
	copy(b[:nameMax], e.name)
	binary.LittleEndian.PutUint64(b[32:], e.offset)
	binary.LittleEndian.PutUint64(b[40:], e.length)
	binary.LittleEndian.PutUint64(b[48:], e.digest)
	return dst
}

func (e *entry) parse(b []byte) {
	name, _, _ := bytes.Cut(b[:nameMax], []byte{0})
	e.name = string(name)
	e.offset = binary.LittleEndian.Uint64(b[32:])
	e.length = binary.LittleEndian.Uint64(b[40:])
	e.digest = binary.LittleEndian.Uint64(b[48:])
}

// padded returns the section's length with its padding.
func (e *entry) padded() uint64 { return roundUp(e.length, pageBytes) }

// blocks returns the number of checksums of the section.
func (e *entry) blocks() uint64 { return (e.padded() + blockBytes - 1) / blockBytes }

// trailer is the end of a file.
//
//	 0  offset of the sums    8
//	 8  offset of the footer  8
//	16  sections              8
//	24  length of the file    8
//	32  checksum of footer    8
//	40  zeros                 8
//	48  checksum of trailer   8
//	56  magic "nddtail\n"     8
type trailer struct {
	sums, footer, sections, length uint64
	footerSum                      uint64
}

func (t *trailer) append(dst []byte, id *Identity) []byte {
	begin := len(dst)
	dst = append(dst, make([]byte, trailerBytes)...)
	b := dst[begin:]
	for i, v := range []uint64{t.sums, t.footer, t.sections, t.length, t.footerSum} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	binary.LittleEndian.PutUint64(b[48:], id.sum(trailerSection, 0, b[:48]))
	copy(b[56:], tailMagic[:])
	return dst
}

func (t *trailer) parse(b []byte, id *Identity) (reason string) {
	if [8]byte(b[56:64]) != tailMagic {
		return "no magic at the end: the file is truncated or extended; copy it again, or make it again"
	}
	if binary.LittleEndian.Uint64(b[48:]) != id.sum(trailerSection, 0, b[:48]) {
		return mismatch
	}
	for i, v := range []*uint64{&t.sums, &t.footer, &t.sections, &t.length, &t.footerSum} {
		*v = binary.LittleEndian.Uint64(b[8*i:])
	}
	return ""
}

// appendTail appends the end of the file, which begins at a byte offset: checksums, footer and trailer. sums has the
// block checksums of each section, and may omit empty sections at the end. appendTail sets the digests of the
// entries.
func (h *header) appendTail(dst []byte, offset uint64, entries []entry, sums [][]uint64) []byte {
	begin := len(dst)
	for i := range entries {
		start := len(dst)
		if i < len(sums) {
			for _, s := range sums[i] {
				dst = binary.LittleEndian.AppendUint64(dst, s)
			}
		}
		entries[i].digest = h.sum(sumsSection, uint64(i), dst[start:])
	}
	start := len(dst)
	for i := range entries {
		dst = entries[i].append(dst)
	}
	t := trailer{sums: offset, footer: offset + uint64(start-begin), sections: uint64(len(entries))}
	t.footerSum = h.sum(footerSection, 0, dst[start:])
	t.length = offset + uint64(len(dst)-begin) + trailerBytes
	return t.append(dst, &h.Identity)
}

func roundUp(n, multiple uint64) uint64 { return (n + multiple - 1) / multiple * multiple }
