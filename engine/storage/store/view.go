package store

import (
	"encoding/binary"
	"unsafe"

	"example.org/ndd/engine/memory"
)

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Uint64s returns little-endian bytes as integers. If the host is little-endian and the bytes are aligned, as in
// sections, the result shares their memory. Otherwise it is a copy. An incomplete integer at the end is dropped.
func Uint64s(b []byte) []uint64 { return integers(b, binary.LittleEndian.Uint64) }

// Uint32s is [Uint64s] for integers of 32 bits.
func Uint32s(b []byte) []uint32 { return integers(b, binary.LittleEndian.Uint32) }

// Uint16s is [Uint64s] for integers of 16 bits.
func Uint16s(b []byte) []uint16 { return integers(b, binary.LittleEndian.Uint16) }

func integers[T uint16 | uint32 | uint64](b []byte, get func([]byte) T) []T {
	size := int(unsafe.Sizeof(T(0)))
	n := len(b) / size
	if n == 0 {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if littleEndian && uintptr(p)%uintptr(size) == 0 {
		return memory.Cast[T](b)
	}
	out := make([]T, n)
	for i := range out {
		out[i] = get(b[size*i:])
	}
	return out
}

// Bytes64 returns integers as little-endian bytes: the inverse of [Uint64s].
func Bytes64(x []uint64) []byte { return bytesOf(x, binary.LittleEndian.AppendUint64) }

// Bytes32 returns integers as little-endian bytes: the inverse of [Uint32s].
func Bytes32(x []uint32) []byte { return bytesOf(x, binary.LittleEndian.AppendUint32) }

func bytesOf[T uint32 | uint64](x []T, add func([]byte, T) []byte) (b []byte) {
	if littleEndian {
		return memory.Cast[byte](x)
	}
	for _, v := range x {
		b = add(b, v)
	}
	return b
}
