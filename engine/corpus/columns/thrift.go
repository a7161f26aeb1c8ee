package columns

import (
	"encoding/binary"
	"fmt"
)

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

// walker walks a structure in Thrift's compact protocol, so that nothing in it claims to be longer than it is.
type walker struct {
	b          []byte
	at         int
	structures int // in lists
}

// structure walks the structure that b begins with and returns its length.
func structure(b []byte) (int, error) {
	w := &walker{b: b}
	err := w.structure(0)
	if err == nil && (w.structures > structuresMax || w.structures > structuresSpare+w.at/structBytes) {
		err = corrupt("%d structures in %d bytes", w.structures, w.at)
	}
	return w.at, err
}

// errShort says that a structure goes on behind the bytes that were given.
var errShort = corrupt("a structure that does not end")

// errDeep says that following a structure would take a stack without bound.
var errDeep = corrupt("structures nested more than %d deep", thriftDepth)

func (w *walker) structure(depth int) error {
	if depth > thriftDepth {
		return errDeep
	}
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
		if err := w.value(head&15, depth, true); err != nil {
			return err
		}
	}
}

// value walks one value. A bool has no bytes of its own as a field.
func (w *walker) value(kind byte, depth int, field bool) error {
	switch kind {
	case thriftTrue, thriftFalse:
		if field {
			return nil
		}
		return w.skip(1)
	case thriftByte:
		return w.skip(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := w.varint()
		return err
	case thriftDouble:
		return w.skip(8)
	case thriftBinary:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case thriftList, thriftSet:
		return w.list(depth + 1)
	case thriftStruct:
		return w.structure(depth + 1)
	}
	return corrupt("a value of type %d", kind) // a map among them: Parquet has none
}

func (w *walker) list(depth int) error {
	if depth > thriftDepth {
		return errDeep
	}
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
		if err := w.value(kind, depth, false); err != nil {
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

func (w *walker) skip(n uint64) error {
	if n > uint64(len(w.b)-w.at) {
		return errShort
	}
	w.at += int(n)
	return nil
}

// corruption is an error of a file that is not what it says.
type corruption struct{ why string }

func (c *corruption) Error() string        { return c.why }
func (c *corruption) Is(target error) bool { return target == ErrCorrupt }

// corrupt returns an error that is ErrCorrupt.
func corrupt(format string, args ...any) error { return &corruption{fmt.Sprintf(format, args...)} }
