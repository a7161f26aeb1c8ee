package document

import (
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// ErrDamaged is what errors of a file wrap that can be read, and whose content ends, or makes no sense, from some place
// on. What lies before that place is good. Of a file that the user named, it is a skip like one of a folder's files:
// one torn archive must not undo hours of reading others.
var ErrDamaged = errors.New("damaged")

type damage struct{ error }

func (d damage) Is(target error) bool { return target == ErrDamaged }
func (d damage) Unwrap() error        { return d.error }

// unpacking reads from a decompressor. Its errors say which it was, and what may have happened to the file.
type unpacking struct {
	packing Packing
	r       io.Reader
	source  *meteredReader // what the decompressor reads
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	return n, u.explain(err)
}

func (u *unpacking) explain(err error) error {
	if err == nil || err == io.EOF || u.source.err != nil {
		return err // not the content's fault
	}
	why := strings.TrimPrefix(err.Error(), string(u.packing)+": ")
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		why = "unexpected EOF: is the file cut short?"
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrMagicMismatch):
		why = "something else follows the compressed data"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zstd.ErrCRCMismatch):
		why = "checksum mismatch"
	}
	return damage{&unpackError{u.packing, why, err}}
}

// unpackError keeps the decompressor's error for errors.Is.
type unpackError struct {
	packing Packing
	why     string
	err     error
}

func (u *unpackError) Error() string { return string(u.packing) + ": " + u.why }
func (u *unpackError) Unwrap() error { return u.err }
