//go:build !purego

package asm

func interpolate(dst []int, keys, sought []uint64) {
	switch {
	case useAVX512:
		interpolateAVX512(&dst[0], &keys[0], len(keys), &sought[0], len(sought))
	case useAVX2 && len(sought)%4 == 0:
		interpolateAVX2(&dst[0], &keys[0], len(keys), &sought[0], len(sought))
	case useAVX2:
		var (
			padded [searchWidth]uint64
			found  [searchWidth]int
		)
		interpolateAVX2(&found[0], &keys[0], len(keys), &padded[0], (copy(padded[:], sought)+3)&^3)
		copy(dst, found[:])
	default:
		interpolateGeneric(dst, keys, sought)
		return
	}
	raceRead(sought)
	raceWrite(dst)
	// Of keys it read the two ends and some in between; telling of all would make a search linear
	// under the race detector.
	raceRead(keys[:1])
	raceRead(keys[len(keys)-1:])
	raceRead(keys[max(dst[0]-1, 0):min(dst[0]+1, len(keys))])
}

// interpolateAVX512 takes 1 to searchWidth sought keys.
//
//go:noescape
func interpolateAVX512(dst *int, keys *uint64, n int, sought *uint64, m int)

// interpolateAVX2 is interpolateAVX512, four at a time; m must be a multiple of four.
//
//go:noescape
func interpolateAVX2(dst *int, keys *uint64, n int, sought *uint64, m int)
