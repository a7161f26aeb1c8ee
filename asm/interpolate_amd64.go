//go:build !purego

package asm

// interpolate has no AVX2 form: without unsigned comparison, conversion of 64-bit
// numbers and masked moves, lanes win nothing over the generic form, whose misses overlap as well.
func interpolate(dst []int, keys, sought []uint64) {
	if !useAVX512 {
		interpolateGeneric(dst, keys, sought)
		return
	}
	raceRead(sought)
	raceWrite(dst)
	interpolateAVX512(&dst[0], &keys[0], len(keys), &sought[0], len(sought))
	// Of keys it read the two ends and some in between; telling of all would make a search linear under the race detector.
	raceRead(keys[:1])
	raceRead(keys[len(keys)-1:])
	raceRead(keys[max(dst[0]-1, 0):min(dst[0]+1, len(keys))])
}

// interpolateAVX512 takes 1 to searchWidth sought keys.
//
//go:noescape
func interpolateAVX512(dst *int, keys *uint64, n int, sought *uint64, m int)
