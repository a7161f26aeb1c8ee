package permute

import (
	"crypto/rand"
	"encoding/binary"
)

// RandomSeed returns a seed that nobody can guess. Whoever knows the seed of a design can make many
// fingerprints that share the leading bits of one of its tables, and queries in that bucket are slow.
func RandomSeed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return max(binary.LittleEndian.Uint64(b[:]), 1)
}
