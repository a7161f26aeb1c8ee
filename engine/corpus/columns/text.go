package columns

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// A Formatter appends a value of a column as text. The value is not null.
type Formatter func(text []byte, v parquet.Value) []byte

const interval = "INTERVAL" // the only type of older files that has no newer form

// decimalMax is the maximum number of a decimal's digits after the point, and of its bytes. No program writes more.
const decimalMax = 1000

// Format returns how values of a column become text, which depends on its logical type: UUIDs are canonical, dates
// and times are as in RFC 3339, decimals have their point. The error names a type that has no text.
func (f *File) Format(column int) (Formatter, error) {
	kind, name := f.leaves[column].Type().Kind(), f.TypeOf(column)
	unsupported := fmt.Errorf("column %q has the type %s, which has no text",
		strings.Join(f.Schema().Columns()[column], "."), name)
	// The logical type decides, if there is one.
	switch t := f.logicalType(column).(type) {
	case *format.UUIDType:
		return appendUUID, nil
	case *format.DecimalType:
		if t.Scale < 0 || t.Scale > decimalMax {
			return nil, unsupported
		}
		return func(text []byte, v parquet.Value) []byte { return appendDecimal(text, v, int(t.Scale)) }, nil
	case *format.IntType:
		if !t.IsSigned {
			return appendUnsigned, nil
		}
	case *format.DateType:
		return func(text []byte, v parquet.Value) []byte {
			return time.Unix(int64(v.Int32())*86400, 0).UTC().AppendFormat(text, time.DateOnly)
		}, nil
	case *format.TimeType:
		return timeFormat("15:04:05", t.Unit, false), nil
	case *format.TimestampType:
		return timeFormat("2006-01-02T15:04:05", t.Unit, t.IsAdjustedToUTC), nil
	case nil, *format.StringType, *format.EnumType, *format.JsonType:
	default:
		return nil, unsupported
	}
	// Otherwise the physical type decides.
	switch {
	case name == interval:
		return nil, unsupported
	case kind == parquet.Int96:
		return appendInt96, nil
	case kind == parquet.FixedLenByteArray:
		return func(text []byte, v parquet.Value) []byte {
			if b := v.ByteArray(); !utf8.Valid(b) {
				return hex.AppendEncode(text, b)
			}
			return append(text, v.ByteArray()...)
		}, nil
	case kind == parquet.ByteArray:
		return func(text []byte, v parquet.Value) []byte { return append(text, v.ByteArray()...) }, nil
	}
	return func(text []byte, v parquet.Value) []byte { return append(text, v.String()...) }, nil
}

// IsText reports whether the values of a column are texts: strings, or bytes without a logical type.
func (f *File) IsText(column int) bool {
	if kind := f.leaves[column].Type().Kind(); kind != parquet.ByteArray && kind != parquet.FixedLenByteArray {
		return false
	}
	switch f.logicalType(column).(type) {
	case nil, *format.StringType, *format.EnumType, *format.JsonType:
		return f.TypeOf(column) != interval
	}
	return false
}

// TypeOf returns the name of a column's logical type or, if it has none, of its physical type.
func (f *File) TypeOf(column int) string {
	t := f.leaves[column].Type()
	if logical := f.logicalType(column); logical != nil {
		return logical.String()
	}
	if converted := t.ConvertedType(); converted != nil && *converted == deprecated.Interval {
		return interval
	}
	return t.Kind().String()
}

// logicalType returns the logical type of a column, or nil. The library may not know the type.
func (f *File) logicalType(column int) format.LogicalTypeValue {
	if t := f.leaves[column].Type().LogicalType(); t != nil && t.Value != nil {
		return t.Value
	}
	for i := range f.footer.Schema {
		if element := &f.footer.Schema[i]; element.Type.Valid {
			if column == 0 {
				return element.LogicalType.Value
			}
			column--
		}
	}
	return nil
}

func appendUUID(text []byte, v parquet.Value) []byte {
	for i, b := range v.ByteArray() {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, []byte{b})
	}
	return text
}

func appendUnsigned(text []byte, v parquet.Value) []byte {
	if v.Kind() == parquet.Int32 {
		return strconv.AppendUint(text, uint64(uint32(v.Int32())), 10)
	}
	return strconv.AppendUint(text, uint64(v.Int64()), 10)
}

// appendDecimal appends a decimal. Its value is a number, or the big-endian bytes of a number in two's complement.
func appendDecimal(text []byte, v parquet.Value, scale int) []byte {
	n := new(big.Int)
	switch v.Kind() {
	case parquet.Int32:
		n.SetInt64(int64(v.Int32()))
	case parquet.Int64:
		n.SetInt64(v.Int64())
	default:
		b := v.ByteArray()
		if len(b) > decimalMax {
			return append(text, "a decimal that is too long"...)
		}
		if n.SetBytes(b); len(b) > 0 && b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
	}
	if n.Sign() < 0 {
		text = append(text, '-')
	}
	digits := n.Abs(n).String()
	digits = strings.Repeat("0", max(scale+1-len(digits), 0)) + digits
	text = append(text, digits[:len(digits)-scale]...)
	if scale > 0 {
		text = append(append(text, '.'), digits[len(digits)-scale:]...)
	}
	return text
}

// timeFormat returns the format of times since an epoch. All texts have the same number of digits, so that they sort in
// the order of the times.
func timeFormat(layout string, unit format.TimeUnit, isUTC bool) Formatter {
	nano, digits := int64(1), 9
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		nano, digits = 1e6, 3
	case *format.MicroSeconds:
		nano, digits = 1e3, 6
	}
	if layout += "." + strings.Repeat("0", digits); isUTC {
		layout += "Z07:00"
	}
	return func(text []byte, v parquet.Value) []byte {
		n := v.Int64()
		if v.Kind() == parquet.Int32 {
			n = int64(v.Int32())
		}
		second := 1e9 / nano
		return time.Unix(n/second, n%second*nano).UTC().AppendFormat(text, layout)
	}
}

// appendInt96 appends a time of older programs: nanoseconds of a day, and the Julian day. 1 January 1970 is day
// 2,440,588.
func appendInt96(text []byte, v parquet.Value) []byte {
	i := v.Int96()
	nanoseconds, day := uint64(i[1])<<32|uint64(i[0]), int64(i[2])
	return time.Unix((day-2_440_588)*86400, int64(nanoseconds)).UTC().AppendFormat(text, "2006-01-02T15:04:05.000000000")
}
