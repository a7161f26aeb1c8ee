package columns

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// ErrCorrupt is the error of files whose sizes or structures are wrong.
var ErrCorrupt = errors.New("corrupt Parquet data")

// A corruption is an [ErrCorrupt] with a reason.
type corruption struct{ reason string }

func (c *corruption) Error() string        { return c.reason }
func (c *corruption) Is(target error) bool { return target == ErrCorrupt }

func corrupt(format string, args ...any) error { return &corruption{fmt.Sprintf(format, args...)} }

// recovered turns a panic of the library into an error. The library panics if parts of a page contradict each other.
func recovered(place string, err *error) {
	if r := recover(); r != nil {
		*err = corrupt("%s: %v", place, r)
	}
}

const (
	depthMax        = 32      // nested structures; Parquet's own have 8
	structBytes     = 4       // minimum average size of a structure in a list
	structuresMax   = 2 << 20 // structures in the lists of a footer; each takes some hundred bytes of memory
	structuresSpare = 64      // structures that may be smaller
)

var errShort = corrupt("a structure that does not end") // the given bytes end within a structure

// A boundedReader reads Thrift's compact protocol for the library's decoder, which would allocate a list of any
// length and follow any depth. It refuses a list with more elements than there are bytes left, and structures that
// are nested too deeply.
type boundedReader struct {
	thrift.BytesReader
	size       int
	structures int   // structures in lists
	openCounts []int // number of structures that are not read yet, at each depth
}

// decode reads the structure at the beginning of b and returns its length.
func decode(b []byte, to any) (int, error) {
	r := &boundedReader{BytesReader: new(thrift.CompactProtocol).NewReaderFromBytes(b), size: len(b), openCounts: []int{1}}
	err := thrift.NewDecoder(r).Decode(to)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errShort
	case err != nil:
		err = corrupt("%v", err)
	}
	return r.BytesRead(), err
}

// Discard skips n bytes. The decoder calls it for values that it does not know.
func (r *boundedReader) Discard(n int) (int, error) {
	return r.BytesReader.(interface{ Discard(int) (int, error) }).Discard(n)
}

func (r *boundedReader) ReadField() (thrift.Field, error) {
	f, err := r.BytesReader.ReadField()
	switch {
	case err != nil:
	case f.Type == thrift.STOP:
		r.closeStructure()
	case f.Type == thrift.STRUCT:
		err = r.openStructures(1)
	}
	return f, err
}

func (r *boundedReader) ReadList() (thrift.List, error) {
	l, err := r.BytesReader.ReadList()
	remaining := r.size - r.BytesRead()
	switch {
	case err != nil:
	case int(l.Size) > remaining:
		err = corrupt("a list of %d values in %d bytes", l.Size, remaining)
	case l.Type == thrift.LIST || l.Type == thrift.SET || l.Type == thrift.MAP:
		err = corrupt("a list of lists, which Parquet does not have")
	case l.Type == thrift.STRUCT:
		if r.structures += int(l.Size); r.structures > structuresMax || int(l.Size) > structuresSpare+remaining/structBytes {
			return l, corrupt("%d structures in %d bytes", l.Size, remaining)
		}
		err = r.openStructures(int(l.Size))
	}
	return l, err
}

func (r *boundedReader) ReadSet() (thrift.Set, error) {
	return thrift.Set{}, corrupt("a set, which Parquet does not have")
}

func (r *boundedReader) ReadMap() (thrift.Map, error) {
	return thrift.Map{}, corrupt("a map, which Parquet does not have")
}

// openStructures counts structures that follow each other.
func (r *boundedReader) openStructures(n int) error {
	if len(r.openCounts) > depthMax {
		return corrupt("structures nested more than %d deep", depthMax)
	}
	if n > 0 {
		r.openCounts = append(r.openCounts, n)
	}
	return nil
}

// closeStructure counts the end of a structure.
func (r *boundedReader) closeStructure() {
	last := len(r.openCounts) - 1
	if r.openCounts[last]--; r.openCounts[last] == 0 && last > 0 {
		r.openCounts = r.openCounts[:last]
	}
}
