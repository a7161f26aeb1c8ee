package store

import "encoding/binary"

// AppendText appends the length of a text and the text. [Fields.Text] reads it.
func AppendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// Fields decodes numbers and texts one after the other. A method panics at the end of the data, and at an
// invalid number.
type Fields []byte

// Byte reads one byte.
func (f *Fields) Byte() byte { return f.take(1)[0] }

// Uvarint reads a number that [binary.AppendUvarint] wrote.
func (f *Fields) Uvarint() uint64 {
	v, n := binary.Uvarint(*f)
	f.skip(n)
	return v
}

// Varint reads a number that [binary.AppendVarint] wrote.
func (f *Fields) Varint() int64 {
	v, n := binary.Varint(*f)
	f.skip(n)
	return v
}

// skip skips a number of n bytes. It panics if n is not positive: the number is cut off or too large.
func (f *Fields) skip(n int) {
	if n <= 0 {
		panic("store: an invalid number")
	}
	*f = (*f)[n:]
}

// Word reads eight bytes in little-endian order.
func (f *Fields) Word() uint64 { return binary.LittleEndian.Uint64(f.take(8)) }

// Text reads a text. It shares the memory of the fields.
func (f *Fields) Text() []byte { return f.take(f.Uvarint()) }

func (f *Fields) take(n uint64) []byte {
	b := (*f)[:n:n]
	*f = (*f)[n:]
	return b
}
