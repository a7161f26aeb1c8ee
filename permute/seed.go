package permute

import (
	"crypto/rand"
	"encoding/binary"
)

// RandomSeed returns a seed that nobody can guess. Whoever knows the seed of a design can create many fingerprints
// with the same leading bits in one of its tables. Queries in that bucket are then slow.
func RandomSeed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return max(binary.LittleEndian.Uint64(b[:]), 1)
}
