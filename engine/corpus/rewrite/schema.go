package rewrite

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"example.org/ndd/engine/result"
)

// A group is a node with other fields than its own.
type group struct {
	parquet.Node
	fields []parquet.Field
}

func (g group) Fields() []parquet.Field { return g.fields }

// A zstdField is a field that is compressed by zstd.
type zstdField struct{ parquet.Field }

func (zstdField) Compression() compress.Codec { return &parquet.Zstd }

// schema returns a schema with an optional column for each field.
func (f *Fields) schema() *parquet.Schema {
	columns := slices.Clone(f.Columns)
	for i := range columns {
		columns[i].Optional = true
	}
	schema := result.Schema(columns)
	var fields []parquet.Field
	for _, field := range schema.Fields() {
		fields = append(fields, zstdField{field})
	}
	return parquet.NewSchema(schema.Name(), group{schema, fields})
}

// columnValue returns the value of a field for a column.
func columnValue(v any, column int) parquet.Value {
	switch v := v.(type) {
	case nil:
		return parquet.NullValue().Level(0, 0, column)
	case float64:
		return parquet.DoubleValue(result.Rounded(v)).Level(0, 1, column)
	case json.RawMessage:
		return parquet.ByteArrayValue(v).Level(0, 1, column)
	case string:
		return parquet.ByteArrayValue(bytes.ToValidUTF8([]byte(v), []byte("\ufffd"))).Level(0, 1, column)
	}
	return parquet.ValueOf(v).Level(0, 1, column)
}
