package columns

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	magic      = "PAR1"
	tailBytes  = 8         // length of the footer, and the magic number
	footerMax  = 256 << 20 // bytes
	schemaMax  = 1 << 15   // columns and groups of columns
	schemaDeep = 64        // maximum nesting depth of groups

	// A file has at most rowsSpare rows, and rowsPerByte more for each byte. A run of nulls or of equal
	// entries takes few bytes.
	rowsSpare   = 1 << 24
	rowsPerByte = 1 << 10
)

// A File is a Parquet file whose footer has been checked.
type File struct {
	r        io.ReaderAt
	size     int64
	footer   *format.FileMetaData // the footer of the file
	schema   *parquet.Schema
	leaves   []*parquet.Column // the columns in order
	pageMax  int64             // maximum bytes of a page
	valueMax int64             // maximum bytes of a value

	decompressor decompressor

	// Memory for the pages that this goroutine edits.
	memory         pageMemory
	values, packed []byte
}

// Limits bound the memory for a file, without its footer.
type Limits struct {
	PageBytes  int64 // maximum size of a decompressed page
	ValueBytes int64 // maximum size of a value; 0 means PageBytes. Longer values are cut to one byte more than the limit
}

// Open reads and checks the footer, of at most 256 MiB. The caller closes the file, and owns the reader.
func Open(r io.ReaderAt, size int64, limits Limits) (f *File, err error) {
	defer recovered("footer", &err)
	footer, err := readFooter(r, size)
	if err != nil {
		return nil, err
	}
	f = &File{r: r, size: size, footer: &format.FileMetaData{}, pageMax: limits.PageBytes,
		valueMax: cmp.Or(limits.ValueBytes, limits.PageBytes)}
	if _, err := decode(footer, f.footer); err != nil {
		return nil, fmt.Errorf("footer: %w", err)
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	return f, f.readSchema()
}

// readFooter returns the footer.
func readFooter(r io.ReaderAt, size int64) ([]byte, error) {
	if size < int64(len(magic)+tailBytes) {
		return nil, corrupt("%d bytes, which is too few: is the file cut short?", size)
	}
	tail := make([]byte, tailBytes)
	if _, err := r.ReadAt(tail, size-tailBytes); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch end := string(tail[4:]); {
	case end == "PARE":
		return nil, errors.New("it is encrypted")
	case end != magic:
		return nil, corrupt("it ends with %q instead of %q: is the file cut short?", end, magic)
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n > size-int64(len(magic)+tailBytes) || n > footerMax {
		return nil, corrupt("a footer of %d bytes in a file of %d", n, size)
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-tailBytes-n); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return footer, nil
}

// check checks that the parts of the footer agree with each other and with the file.
func (f *File) check() error {
	m := f.footer
	if m.EncryptionAlgorithm.Value != nil {
		return errors.New("it is encrypted")
	}
	if err := checkSchema(m.Schema); err != nil {
		return err
	}
	rows, limit := int64(0), rowsSpare+rowsPerByte*f.size
	for i := range m.RowGroups {
		n := m.RowGroups[i].NumRows
		if n < 0 || n > limit || rows+n > limit {
			return corrupt("row group %d claims %d rows, too many for a file of %d bytes", i+1, n, f.size)
		}
		rows += n
	}
	return nil
}

// checkSchema refuses a schema whose groups are nested too deeply, or have more children than there are columns.
// The library notices children that are missing at the end.
func checkSchema(s []format.SchemaElement) error {
	if len(s) == 0 || len(s) > schemaMax {
		return corrupt("a schema of %d columns", len(s))
	}
	var open []int32 // number of children that are missing in each open group
	for i := range s {
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if i > 0 && len(open) == 0 {
			return corrupt("a column %.60q outside the schema's root", s[i].Name)
		}
		if i > 0 {
			open[len(open)-1]--
		}
		if n := s[i].NumChildren; n.Valid && n.V != 0 {
			if n.V < 0 || int(n.V) > len(s) || len(open) == schemaDeep {
				return corrupt("column %.60q claims %d children, %d deep", s[i].Name, n.V, len(open))
			}
			open = append(open, n.V)
		}
	}
	return nil
}

// readSchema finds the columns. The library gets a file that has only the schema.
func (f *File) readSchema() error {
	var compact thrift.CompactProtocol
	m := format.FileMetaData{Version: f.footer.Version, Schema: f.footer.Schema, ColumnOrders: f.footer.ColumnOrders}
	footer, err := thrift.Marshal(&compact, &m)
	if err != nil {
		return corrupt("%v", err)
	}
	file := append([]byte(magic), footer...)
	file = append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), magic...)
	schema, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return corrupt("%v", err)
	}
	f.schema = schema.Schema()
	f.addLeaves(schema.Root())
	for _, leaf := range f.leaves {
		if _, ok := f.schema.Lookup(leaf.Path()...); !ok {
			return corrupt("the column %.60q and a group have one name", leaf.Path())
		}
	}
	for i := range f.footer.RowGroups {
		if n := len(f.footer.RowGroups[i].Columns); n != len(f.leaves) {
			return corrupt("row group %d has %d columns of %d", i+1, n, len(f.leaves))
		}
	}
	return nil
}

// addLeaves adds the columns in a group, or a column itself.
func (f *File) addLeaves(c *parquet.Column) {
	if c.Leaf() {
		c.Type().Kind() // the library panics at a list without elements
		f.leaves = append(f.leaves, c)
	}
	for _, child := range c.Columns() {
		f.addLeaves(child)
	}
}

// Close releases the decompressors.
func (f *File) Close() { f.decompressor.close() }

// Clone returns the file for another goroutine. The caller closes each clone.
func (f *File) Clone() *File {
	return &File{r: f.r, size: f.size, footer: f.footer, schema: f.schema, leaves: f.leaves, pageMax: f.pageMax, valueMax: f.valueMax}
}

// Schema returns the columns.
func (f *File) Schema() *parquet.Schema { return f.schema }

// Groups returns the number of row groups.
func (f *File) Groups() int { return len(f.footer.RowGroups) }

// Rows returns the stated number of rows of a row group. Groups are numbered from 0.
func (f *File) Rows(group int) int64 { return f.footer.RowGroups[group].NumRows }

// Bytes returns the stated number of uncompressed bytes of a row group.
func (f *File) Bytes(group int) int64 { return f.footer.RowGroups[group].TotalByteSize }

// IsRepeated reports whether a column is in a list or map, so that a row may have several values.
func (f *File) IsRepeated(column int) bool { return f.leaves[column].MaxRepetitionLevel() > 0 }
