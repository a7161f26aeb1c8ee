package rewrite

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"

	"ndd/engine/result"
)

// columnOptions returns the options for writing the copy of a Parquet file: its schema, with the columns of
// fields unless they are nil, and its metadata.
func columnOptions(file *parquet.File, fields *Fields) []parquet.WriterOption {
	schema := encodable(file.Schema())
	if fields != nil {
		schema = fields.schema(schema)
	}
	options := []parquet.WriterOption{schema}
	for _, pair := range file.Metadata().KeyValueMetadata {
		if fields == nil || !slices.Contains(schemaCopies, pair.Key) {
			options = append(options, parquet.KeyValueMetadata(pair.Key, pair.Value))
		}
	}
	return options
}

// schemaCopies are the keys of metadata that repeat the schema.
var schemaCopies = []string{"ARROW:schema", "huggingface"}

// encodable returns a schema whose columns can all be written. For a column without a dictionary the library
// takes the first encoding in the file's list. This may be RLE, the encoding of levels, since other writers
// list encodings in any order.
func encodable(of *parquet.Schema) *parquet.Schema {
	for _, path := range of.Columns() {
		if leaf, ok := of.Lookup(path...); ok && levelsOnly(leaf.Node) {
			return parquet.NewSchema(of.Name(), group{of, plainFields(of)})
		}
	}
	return of
}

// levelsOnly reports whether the encoding of a column cannot encode its values.
func levelsOnly(n parquet.Node) bool {
	return n.Leaf() && n.Type().Kind() != parquet.Boolean && n.Encoding() == encoding.Encoding(&parquet.RLE)
}

// A plain is a field whose columns are encoded plainly where [levelsOnly] reports true.
type plain struct{ parquet.Field }

func (p plain) Encoding() encoding.Encoding {
	if levelsOnly(p.Field) {
		return &parquet.Plain
	}
	return p.Field.Encoding()
}

func (p plain) Fields() []parquet.Field { return plainFields(p.Field) }

func plainFields(n parquet.Node) []parquet.Field {
	fields := slices.Clone(n.Fields())
	for i, f := range fields {
		fields[i] = plain{f}
	}
	return fields
}

// A group is a node with other fields than its own.
type group struct {
	parquet.Node
	fields []parquet.Field
}

func (g group) Fields() []parquet.Field { return g.fields }

// A zipped is a field that is compressed by zstd.
type zipped struct{ parquet.Field }

func (zipped) Compression() compress.Codec { return &parquet.Zstd }

// schema returns a schema with an optional column for each field after its own.
func (f *Fields) schema(of *parquet.Schema) *parquet.Schema {
	columns := slices.Clone(f.Columns)
	for i := range columns {
		columns[i].Optional = true
	}
	fields := slices.Clone(of.Fields())
	for _, field := range result.Schema(columns).Fields() {
		fields = append(fields, zipped{field})
	}
	return parquet.NewSchema(of.Name(), group{of, fields})
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
