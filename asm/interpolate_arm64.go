//go:build !purego

package asm

func interpolate(dst []int, keys, sought []uint64) {
	if !useNEON {
		interpolateGeneric(dst, keys, sought)
		return
	}
	interpolateNEON(&dst[0], &keys[0], len(keys), &sought[0], len(sought))
	raceRead(sought)
	raceWrite(dst)
	// Of keys it read the two ends and some in between; telling of all would make a search linear
	// under the race detector.
	raceRead(keys[:1])
	raceRead(keys[len(keys)-1:])
	raceRead(keys[max(dst[0]-1, 0):min(dst[0]+1, len(keys))])
}

// interpolateNEON takes 1 to searchWidth sought keys and 1 key or more.
//
//go:noescape
func interpolateNEON(dst *int, keys *uint64, n int, sought *uint64, m int)
