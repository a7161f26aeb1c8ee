package columns_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"example.org/ndd/engine/corpus/columns"
	"example.org/ndd/engine/oracle/must"
)

// TestFormat checks that a value is formatted by its logical type, or the type is refused with its name.
func TestFormat(t *testing.T) {
	bytesOf := func(b ...byte) parquet.Value { return parquet.FixedLenByteArrayValue(b) }
	fixed := func(n int) parquet.Node { return parquet.Leaf(parquet.FixedLenByteArrayType(n)) }
	negative := parquet.ByteArrayValue([]byte{0xff, 0x85}) // -123
	for _, c := range []struct {
		node   parquet.Node
		value  parquet.Value
		want   string // or, of a type that is refused, a part of the error
		isText bool
	}{
		{parquet.String(), parquet.ByteArrayValue([]byte("one")), "one", true},
		{parquet.Leaf(parquet.ByteArrayType), parquet.ByteArrayValue([]byte("one")), "one", true},
		{parquet.Enum(), parquet.ByteArrayValue([]byte("one")), "one", true},
		{parquet.JSON(), parquet.ByteArrayValue([]byte("{}")), "{}", true},
		{fixed(3), bytesOf('o', 'n', 'e'), "one", true},
		{fixed(3), bytesOf(0xff, 0, 1), "ff0001", true},
		{parquet.UUID(), bytesOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255), "00010203-0405-0607-0809-0a0b0c0d0eff", false},
		{parquet.Uint(8), parquet.Int32Value(200), "200", false},
		{parquet.Uint(16), parquet.Int32Value(60_000), "60000", false},
		{parquet.Uint(32), parquet.Int32Value(-1), "4294967295", false},
		{parquet.Uint(64), parquet.Int64Value(-1), "18446744073709551615", false},
		{parquet.Int(8), parquet.Int32Value(-1), "-1", false},
		{parquet.Int(64), parquet.Int64Value(math.MinInt64), "-9223372036854775808", false},
		{parquet.Leaf(parquet.BooleanType), parquet.BooleanValue(true), "true", false},
		{parquet.Leaf(parquet.DoubleType), parquet.DoubleValue(0.1), "0.1", false},
		{parquet.Decimal(2, 9, parquet.Int32Type), parquet.Int32Value(-5), "-0.05", false},
		{parquet.Decimal(2, 18, parquet.Int64Type), parquet.Int64Value(12345), "123.45", false},
		{parquet.Decimal(0, 18, parquet.Int64Type), parquet.Int64Value(12345), "12345", false},
		{parquet.Decimal(1, 30, parquet.ByteArrayType), negative, "-12.3", false},
		{parquet.Decimal(3, 30, parquet.FixedLenByteArrayType(2)), bytesOf(0xff, 0x85), "-0.123", false},
		{parquet.Decimal(4, 38, parquet.FixedLenByteArrayType(9)), bytesOf(1, 0, 0, 0, 0, 0, 0, 0, 0), "1844674407370955.1616", false},
		{parquet.Date(), parquet.Int32Value(19_000), "2022-01-08", false},
		{parquet.Date(), parquet.Int32Value(-1), "1969-12-31", false},
		{parquet.Time(parquet.Millisecond), parquet.Int32Value(3_723_004), "01:02:03.004", false},
		{parquet.Time(parquet.Microsecond), parquet.Int64Value(3_723_000_004), "01:02:03.000004", false},
		{parquet.Time(parquet.Nanosecond), parquet.Int64Value(3_723_000_000_004), "01:02:03.000000004", false},
		{parquet.Timestamp(parquet.Millisecond), parquet.Int64Value(-1), "1969-12-31T23:59:59.999Z", false},
		{parquet.Timestamp(parquet.Microsecond), parquet.Int64Value(1e15), "2001-09-09T01:46:40.000000Z", false},
		{parquet.Timestamp(parquet.Nanosecond), parquet.Int64Value(1e18 + 5), "2001-09-09T01:46:40.000000005Z", false},
		{parquet.TimestampAdjusted(parquet.Millisecond, false), parquet.Int64Value(0), "1970-01-01T00:00:00.000", false},
		{parquet.Leaf(parquet.Int96Type), parquet.Int96Value(deprecated.Int96{1_000_000_000, 0, 2_440_589}),
			"1970-01-02T00:00:01.000000000", false},
		{parquet.BSON(), parquet.ByteArrayValue([]byte("x")), `column "v" has the type BSON, which has no text`, false},
		{parquet.IntervalNode(), bytesOf(make([]byte, 12)...), `column "v" has the type INTERVAL, which has no text`, false},
		{parquet.Decimal(1001, 2000, parquet.ByteArrayType), negative, "DECIMAL(2000,1001)", false},
	} {
		var b bytes.Buffer
		w := parquet.NewWriter(&b, parquet.NewSchema("rows", parquet.Group{"v": c.node}))
		_, err := w.WriteRows([]parquet.Row{{c.value.Level(0, 0, 0)}})
		must.Do(t, err)
		must.Do(t, w.Close())
		got, isText, err := formatted(b.Bytes())
		if err != nil && strings.Contains(err.Error(), c.want) {
			got = c.want
		}
		if got != c.want || isText != c.isText {
			t.Errorf("%s: %q, %v, want %q: %v", c.node, got, isText, c.want, err)
		}
	}
	half := rows(1, dataPage(1, format.Plain, []byte{0, 0x3c}))
	half.footer = func(m *format.FileMetaData) {
		m.Schema[1].Type, m.Schema[1].TypeLength = thrift.New(format.FixedLenByteArray), thrift.New[int32](2)
		m.Schema[1].LogicalType.Value = new(format.Float16Type)
	}
	if got, isText, err := formatted(half.bytes(t)); err == nil || !strings.Contains(err.Error(), "FLOAT16") || isText {
		t.Errorf("half a float: %q, %v", got, err)
	}
}

// formatted returns the last value of the first column as text.
func formatted(data []byte) (text string, isText bool, err error) {
	f, err := columns.Open(bytes.NewReader(data), int64(len(data)), columns.Limits{PageBytes: 1 << 20})
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	append, err := f.Format(0)
	if err == nil {
		err = eachValue(f, 0, func(v parquet.Value) { text = string(append(nil, v)) })
	}
	return text, f.IsText(0), err
}
