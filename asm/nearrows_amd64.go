//go:build !purego

package asm

// nearRows has no AVX2 form: a popcount in four lanes by look-ups takes as long as four of the
// integer units.
func nearRows(dst []uint32, keys []uint64, ends []uint32, from uint32, k int) (n, done int) {
	if useAVX512 {
		return nearRowsAVX512(dst, keys, ends, from, k)
	}
	return nearRowsGeneric(dst, keys, ends, from, k)
}

//go:noescape
func nearRowsAVX512(dst []uint32, keys []uint64, ends []uint32, from uint32, k int) (n, done int)
