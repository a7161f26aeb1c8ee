package store

import "encoding/binary"

// AppendText appends a text behind its length, as [Fields.Text] reads it.
func AppendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// Fields are encoded numbers and texts, taken one after the other. A method panics where there is nothing left.
type Fields []byte

// Byte takes one byte.
func (f *Fields) Byte() byte { return f.take(1)[0] }

// Uvarint takes a number as [binary.AppendUvarint] writes it.
func (f *Fields) Uvarint() uint64 {
	v, n := binary.Uvarint(*f)
	*f = (*f)[max(n, 1):] // behind a number that makes no sense the end comes at last
	return v
}

// Varint takes a number as [binary.AppendVarint] writes it.
func (f *Fields) Varint() int64 {
	v, n := binary.Varint(*f)
	*f = (*f)[max(n, 1):]
	return v
}

// Word takes eight bytes, the lowest first.
func (f *Fields) Word() uint64 { return binary.LittleEndian.Uint64(f.take(8)) }

// Text takes a text, which is in the memory of the fields.
func (f *Fields) Text() []byte { return f.take(f.Uvarint()) }

func (f *Fields) take(n uint64) []byte {
	b := (*f)[:n:n]
	*f = (*f)[n:]
	return b
}
