package simhash

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"unsafe"
)

// Fingerprint is the 64-bit fingerprint of a text by some recipe. If documents share most of their features, their
// fingerprints differ in few bits.
type Fingerprint uint64

// ErrMixed is wrapped by the errors of [Compatible].
var ErrMixed = errors.New("fingerprints cannot be compared")

// String returns the 16 lower-case hexadecimal digits, most significant first.
func (f Fingerprint) String() string {
	var s [16]byte
	return string(f.Append(s[:0]))
}

// Append appends the result of String.
func (f Fingerprint) Append(dst []byte) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, digits[f>>shift&15])
	}
	return dst
}

// Parse reads the format of [Fingerprint.String]. It also accepts upper-case digits. s must have exactly 16 digits.
func Parse(s string) (Fingerprint, error) {
	if len(s) != 16 {
		return 0, fmt.Errorf("fingerprint %.32q: %d characters where 16 hexadecimal digits were expected (a line is 16 "+
			"hexadecimal digits, tab, ID)", s, len(s))
	}
	for i := range len(s) {
		if c := s[i] | 0x20; (s[i] < '0' || s[i] > '9') && (c < 'a' || c > 'f') {
			return 0, fmt.Errorf("fingerprint %.32q: %q at position %d is no hexadecimal digit", s, s[i], i)
		}
	}
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("fingerprint %.32q: %w", s, err)
	}
	return Fingerprint(v), nil
}

// Distance returns the Hamming distance of a and b: the number of differing bits, 0 to 64.
func Distance(a, b Fingerprint) int { return bits.OnesCount64(uint64(a ^ b)) }

// Words returns the fingerprints as the words that tables and kernels use. It returns the same memory, not a copy.
func Words(f []Fingerprint) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.SliceData(f)), len(f))
}

// Fingerprints is the inverse of [Words]. It returns the same memory, not a copy.
func Fingerprints(words []uint64) []Fingerprint {
	return unsafe.Slice((*Fingerprint)(unsafe.SliceData(words)), len(words))
}
