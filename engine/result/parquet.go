package result

import (
	"io"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"ndd/engine/corpus/simhash"
)

const (
	groupRows    = 1 << 17 // of a row group, at most
	groupBytes   = 8 << 20 // of a row group's cells, about: what a writer holds in memory
	rowsTogether = 128     // handed to the library at a time
)

// parquetEncoder writes row groups of columns.
type parquetEncoder struct {
	to      *parquet.GenericWriter[any]
	columns []Column
	cells   []parquet.Value
	rows    []parquet.Row // of cells
	held    int           // rows of the group
	bytes   int           // of their cells
}

func newParquetEncoder(w io.Writer, columns []Column) *parquetEncoder {
	return &parquetEncoder{
		to: parquet.NewGenericWriter[any](w, Schema(columns),
			parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest})),
		columns: columns,
		cells:   make([]parquet.Value, 0, rowsTogether*len(columns)),
	}
}

// Schema returns the schema of a table. It is that of a structure, since the fields of any
// other group are sorted by their names.
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

// add takes a cell that has a value.
func (e *parquetEncoder) add(column int, v parquet.Value, bytes int) {
	level := 0
	if e.columns[column].Optional {
		level = 1
	}
	e.cells = append(e.cells, v.Level(0, level, column))
	e.bytes += bytes
}

func (e *parquetEncoder) text(column int, s string) {
	s = strings.ToValidUTF8(s, "\ufffd") // as JSON has it: other readers refuse strings that are not UTF-8
	e.add(column, parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(s), len(s))), len(s)+4)
}
func (e *parquetEncoder) print(column int, f simhash.Fingerprint) { e.text(column, f.String()) }
func (e *parquetEncoder) integer(column int, v int64)             { e.add(column, parquet.Int64Value(v), 8) }
func (e *parquetEncoder) real(column int, v float64) {
	e.add(column, parquet.DoubleValue(Rounded(v)), 8)
}
func (e *parquetEncoder) flag(column int, v bool) { e.add(column, parquet.BooleanValue(v), 1) }
func (e *parquetEncoder) null(column int) {
	e.cells = append(e.cells, parquet.NullValue().Level(0, 0, column))
}

func (e *parquetEncoder) end() error {
	e.held++
	full := e.held == groupRows || e.bytes >= groupBytes
	if len(e.cells) == cap(e.cells) || full {
		if err := e.hand(); err != nil {
			return err
		}
	}
	if !full {
		return nil
	}
	e.held, e.bytes = 0, 0
	return e.to.Flush()
}

// hand hands the rows to the library, which copies them.
func (e *parquetEncoder) hand() error {
	e.rows = e.rows[:0]
	for cells := e.cells; len(cells) > 0; cells = cells[len(e.columns):] {
		e.rows = append(e.rows, parquet.Row(cells[:len(e.columns):len(e.columns)]))
	}
	_, err := e.to.WriteRows(e.rows)
	e.cells = e.cells[:0]
	return err
}

func (e *parquetEncoder) close() error {
	if err := e.hand(); err != nil {
		return err
	}
	return e.to.Close()
}
