package columns

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrCorrupt is the error of files whose claims are false.
var ErrCorrupt = errors.New("not what it says")

// corruption is an [ErrCorrupt] with a reason of its own.
type corruption struct{ why string }

func (c *corruption) Error() string        { return c.why }
func (c *corruption) Is(target error) bool { return target == ErrCorrupt }

func corrupt(format string, args ...any) error { return &corruption{fmt.Sprintf(format, args...)} }

// The types of Thrift's compact protocol.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftStruct = 12
)

const (
	thriftDepth     = 32      // of structures and lists in one another; Parquet's own have 8 structures
	structBytes     = 4       // that a structure in a list takes, on average, at least
	structuresMax   = 2 << 20 // in lists of a footer: each is some hundred bytes of memory
	structuresSpare = 64      // that may be smaller
)

var (
	errShort = corrupt("a structure that does not end") // within the bytes that were given
	errDeep  = corrupt("structures nested more than %d deep", thriftDepth)
)

// A walker walks Thrift's compact protocol and checks that no length in it exceeds the bytes that
// are there: the library's decoder would allocate any length and follow any depth.
type walker struct {
	b          []byte
	at         int
	structures int // in lists
}

// structure walks the structure that b begins with and returns its length.
func structure(b []byte) (int, error) {
	w := &walker{b: b}
	err := w.structure(0)
	if err == nil && w.structures > structuresSpare+w.at/structBytes {
		err = corrupt("%d structures in %d bytes", w.structures, w.at)
	}
	return w.at, err
}

func (w *walker) structure(depth int) error {
	for {
		head, err := w.byte()
		if err != nil || head == thriftStop {
			return err
		}
		if head>>4 == 0 { // the field's number follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		if kind := head & 15; kind != thriftTrue && kind != thriftFalse { // which have no bytes of their own
			if err := w.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

// value walks one value.
func (w *walker) value(kind byte, depth int) (err error) {
	if depth > thriftDepth {
		return errDeep
	}
	n := uint64(1) // bytes
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
	case thriftI16, thriftI32, thriftI64:
		_, err = w.varint()
		return err
	case thriftDouble:
		n = 8
	case thriftBinary:
		if n, err = w.varint(); err != nil {
			return err
		}
	case thriftList, thriftSet:
		return w.list(depth + 1)
	case thriftStruct:
		return w.structure(depth + 1)
	default:
		return corrupt("a value of type %d", kind) // a map among them: Parquet has none
	}
	if n > uint64(len(w.b)-w.at) {
		return errShort
	}
	w.at += int(n)
	return nil
}

func (w *walker) list(depth int) error {
	head, err := w.byte()
	if err != nil {
		return err
	}
	n, kind := uint64(head>>4), head&15
	if n == 15 {
		if n, err = w.varint(); err != nil {
			return err
		}
	}
	if n > uint64(len(w.b)-w.at) { // a value takes a byte at least
		return errShort
	}
	if kind == thriftStruct {
		if w.structures += int(n); w.structures > structuresMax {
			return corrupt("a list of %d structures", n)
		}
	}
	for range n {
		if err := w.value(kind, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) byte() (byte, error) {
	if w.at >= len(w.b) {
		return 0, errShort
	}
	w.at++
	return w.b[w.at-1], nil
}

func (w *walker) varint() (uint64, error) {
	v, n := binary.Uvarint(w.b[w.at:])
	if n < 0 {
		return 0, corrupt("a number of more than 64 bits")
	}
	if n == 0 {
		return 0, errShort
	}
	w.at += n
	return v, nil
}
