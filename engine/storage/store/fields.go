package store

import "encoding/binary"

// AppendText appends the length of a text and the text. [Fields.Text] reads it.
func AppendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// Fields decodes numbers and texts one after the other. A method panics at the end of the data.
type Fields []byte

// Byte reads one byte.
func (f *Fields) Byte() byte { return f.take(1)[0] }

// Uvarint reads a number that [binary.AppendUvarint] wrote.
func (f *Fields) Uvarint() uint64 {
	v, n := binary.Uvarint(*f)
	*f = (*f)[max(n, 1):] // skips one byte of an invalid number, so that hostile data ends with a panic
	return v
}

// Varint reads a number that [binary.AppendVarint] wrote.
func (f *Fields) Varint() int64 {
	v, n := binary.Varint(*f)
	*f = (*f)[max(n, 1):]
	return v
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
