package result

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"

	"ndd/engine/storage/store"
)

// lineBytesMax bounds the memory that a line of a damaged file takes: above any ID.
const lineBytesMax = 64 << 20

// A Reader reads rows that a [Writer] wrote, one after the other. It belongs to one goroutine.
type Reader struct {
	from   *bufio.Reader
	format Format
	number int // of the row that is read, from 1
	line   []byte
}

// NewReader returns a reader of the rows of r, which are in the format given.
func NewReader(r io.Reader, f Format) *Reader {
	return &Reader{from: bufio.NewReaderSize(r, 64<<10), format: f}
}

// Read returns the next row, or io.EOF behind the last one. Damage is an error that wraps
// [store.ErrCorrupt] and names the line or record; so is an end within a row.
func (r *Reader) Read() (Row, error) {
	query, row, err := r.next(false)
	if err == nil && r.format != Binary {
		if row.Query, err = parseQuery(query); err != nil {
			err = r.corrupt(err)
		}
	}
	if err != nil {
		return Row{}, err
	}
	return row, nil
}

// ReadNamed returns the next row that [Writer.WriteNamed] wrote, as [Reader.Read] does, and the query's text.
// It panics where the format is [Binary].
func (r *Reader) ReadNamed() (query string, row Row, err error) {
	if r.format == Binary {
		panic("result: binary rows have no text of a query")
	}
	if query, row, err = r.next(true); err != nil {
		return "", Row{}, err
	}
	return query, row, nil
}

// next parses the next row.
func (r *Reader) next(named bool) (query string, row Row, err error) {
	r.number++
	if r.format == Binary {
		var record [recordBytes]byte
		if err := r.readRecord(&record); err != nil {
			return "", row, err
		}
		if row, err = parseBinary(&record); err != nil {
			err = r.corrupt(err)
		}
		return "", row, err
	}
	if err := r.readLine(); err != nil {
		return "", row, err
	}
	if r.format == TSV {
		query, row, err = parseTSV(string(r.line))
	} else {
		query, row, err = parseJSON(r.line, named)
	}
	if err != nil {
		err = r.corrupt(err)
	}
	return query, row, err
}

func (r *Reader) readRecord(record *[recordBytes]byte) error {
	n, err := io.ReadFull(r.from, record[:])
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return r.corrupt(fmt.Errorf("%d bytes are left of %d", n, recordBytes))
	}
	return err
}

// readLine reads a line without its end.
func (r *Reader) readLine() error {
	r.line = r.line[:0]
	for {
		part, err := r.from.ReadSlice('\n')
		r.line = append(r.line, part...)
		switch {
		case err == nil:
			r.line = r.line[:len(r.line)-1]
			return nil
		case errors.Is(err, io.EOF) && len(r.line) > 0:
			return r.corrupt(errors.New("it has no end"))
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		case len(r.line) > lineBytesMax:
			return r.corrupt(fmt.Errorf("longer than %d bytes", lineBytesMax))
		}
	}
}

// corrupt returns err with the row in which it is.
func (r *Reader) corrupt(err error) error {
	unit := "line"
	if r.format == Binary {
		unit = "record"
	}
	return fmt.Errorf("%s %d of the result: %w: %w", unit, r.number, store.ErrCorrupt, err)
}

// parseQuery parses the row of a query.
func parseQuery(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, strconv.IntSize-1)
	if err != nil {
		return 0, fmt.Errorf("query %.32q is no row number", s)
	}
	return int(n), nil
}
