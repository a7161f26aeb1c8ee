package result

import (
	"io"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"example.org/ndd/engine/corpus/simhash"
)

const (
	groupRows    = 1 << 17 // maximum number of rows of a row group
	groupBytes   = 8 << 20 // approximate maximum size of a row group's cells, which a writer holds in memory
	rowsTogether = 128     // number of rows per call of the library
)

// A parquetEncoder writes row groups of columns.
type parquetEncoder struct {
	writer      *parquet.GenericWriter[any]
	columns     []Column
	cells       []parquet.Value
	rows        []parquet.Row // rows of cells
	rowsInGroup int           // number of rows in the group
	bytes       int           // bytes of their cells
}

func newParquetEncoder(w io.Writer, columns []Column) *parquetEncoder {
	return &parquetEncoder{
		writer: parquet.NewGenericWriter[any](w, Schema(columns),
			parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest})),
		columns: columns,
		cells:   make([]parquet.Value, 0, rowsTogether*len(columns)),
	}
}

// Schema returns the schema of a table. It is built from a struct type, because all other groups sort their fields by
// name.
func Schema(columns []Column) *parquet.Schema {
	types := map[Kind]reflect.Type{Text: reflect.TypeFor[string](), Integer: reflect.TypeFor[int64](),
		Real: reflect.TypeFor[float64](), Flag: reflect.TypeFor[bool]()}
	fields := make([]reflect.StructField, len(columns))
	for i, c := range columns {
		tag := c.Name
		if c.Optional {
			tag += ",optional"
		}
		fields[i] = reflect.StructField{Name: "Column" + strconv.Itoa(i), Type: types[c.Kind],
			Tag: reflect.StructTag(`parquet:"` + tag + `"`)}
	}
	return parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
}

// add adds a cell with a value.
func (e *parquetEncoder) add(column int, v parquet.Value, bytes int) {
	level := 0
	if e.columns[column].Optional {
		level = 1
	}
	e.cells = append(e.cells, v.Level(0, level, column))
	e.bytes += bytes
}

func (e *parquetEncoder) text(column int, s string) {
	s = strings.ToValidUTF8(s, "\ufffd") // like JSON: other readers refuse strings that are not UTF-8
	e.add(column, parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(s), len(s))), len(s)+4)
}
func (e *parquetEncoder) fingerprint(column int, f simhash.Fingerprint) { e.text(column, f.String()) }
func (e *parquetEncoder) integer(column int, v int64)                   { e.add(column, parquet.Int64Value(v), 8) }
func (e *parquetEncoder) real(column int, v float64) {
	e.add(column, parquet.DoubleValue(Rounded(v)), 8)
}
func (e *parquetEncoder) flag(column int, v bool) { e.add(column, parquet.BooleanValue(v), 1) }
func (e *parquetEncoder) null(column int) {
	e.cells = append(e.cells, parquet.NullValue().Level(0, 0, column))
}

func (e *parquetEncoder) end() error {
	e.rowsInGroup++
	full := e.rowsInGroup == groupRows || e.bytes >= groupBytes
	if len(e.cells) == cap(e.cells) || full {
		if err := e.hand(); err != nil {
			return err
		}
	}
	if !full {
		return nil
	}
	e.rowsInGroup, e.bytes = 0, 0
	return e.writer.Flush()
}

// hand passes the rows to the library, which copies them.
func (e *parquetEncoder) hand() error {
	e.rows = e.rows[:0]
	for cells := e.cells; len(cells) > 0; cells = cells[len(e.columns):] {
		e.rows = append(e.rows, parquet.Row(cells[:len(e.columns):len(e.columns)]))
	}
	_, err := e.writer.WriteRows(e.rows)
	e.cells = e.cells[:0]
	return err
}

func (e *parquetEncoder) close() error {
	if err := e.hand(); err != nil {
		return err
	}
	return e.writer.Close()
}
