package unpack

import (
	"bytes"
	"errors"
)

// Packing is how a file is compressed.
type Packing string

// The ways of compression that a [Reader] reads.
const (
	None  Packing = ""
	Gzip  Packing = "gzip"
	Zstd  Packing = "zstd"
	Xz    Packing = "xz"
	Bzip2 Packing = "bzip2"
)

// HeadBytes is the number of bytes of a file that show its compression.
const HeadBytes = 6

var gzipMagic = []byte{0x1f, 0x8b, 0x08}

// PackingOf returns the compression of a file that begins with head.
func PackingOf(head []byte) Packing {
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		return Gzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), isSkippable(head):
		return Zstd
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return Xz
	case len(head) > 3 && string(head[:3]) == "BZh" && head[3] >= '1' && head[3] <= '9':
		return Bzip2
	}
	return None
}

// isSkippable reports whether head begins a frame of zstd without content.
func isSkippable(head []byte) bool {
	return len(head) > 3 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18"
}

// CopyEnding returns the ending that is added to the name of a copy of a file with this compression. It is "" if the
// name stays the same. No encoder of this program writes xz or bzip2, so copies of such files are compressed by zstd.
func (p Packing) CopyEnding() string {
	if p == Xz || p == Bzip2 {
		return ".zst"
	}
	return ""
}

// ErrDamaged is the error of content that ends early or cannot be decompressed. The content before it is correct.
var ErrDamaged = errors.New("damaged")

// Damage marks an error as [ErrDamaged].
func Damage(err error) error { return damageError{err} }

type damageError struct{ error }

func (d damageError) Is(target error) bool { return target == ErrDamaged }
func (d damageError) Unwrap() error        { return d.error }
