package store

import (
	"encoding/binary"
	"unsafe"
)

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Uint64s returns little-endian bytes as integers: the same memory where the host is little-endian and
// the bytes are aligned, as those of sections are, else a copy. Bytes beyond the last whole integer are
// left out.
func Uint64s(b []byte) []uint64 {
	n := len(b) / 8
	if n == 0 {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if littleEndian && uintptr(p)%8 == 0 {
		return unsafe.Slice((*uint64)(p), n)
	}
	out := make([]uint64, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return out
}

// Uint32s is [Uint64s] for integers of 32 bits.
func Uint32s(b []byte) []uint32 {
	n := len(b) / 4
	if n == 0 {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if littleEndian && uintptr(p)%4 == 0 {
		return unsafe.Slice((*uint32)(p), n)
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

// Bytes64 returns integers as little-endian bytes: the inverse of [Uint64s].
func Bytes64(x []uint64) []byte {
	if littleEndian {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 8*len(x))
	}
	b := make([]byte, 0, 8*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// Bytes32 returns integers as little-endian bytes: the inverse of [Uint32s].
func Bytes32(x []uint32) []byte {
	if littleEndian {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
	}
	b := make([]byte, 0, 4*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}
