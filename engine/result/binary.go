package result

import (
	"encoding/binary"
	"fmt"
	"math"

	"ndd/engine/corpus/simhash"
)

// recordBytes is the size of a row in the format [Binary].
const recordBytes = 4 * 8

func appendBinary(dst []byte, r *Row) []byte {
	for _, v := range [4]uint64{uint64(r.Query), uint64(r.Fingerprint), uint64(r.Distance), r.DocID} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}

func parseBinary(record *[recordBytes]byte) (r Row, err error) {
	field := func(i int) uint64 { return binary.LittleEndian.Uint64(record[8*i:]) }
	if field(0) > math.MaxInt {
		return r, fmt.Errorf("query %d: there is no such row", field(0))
	}
	r = Row{Query: int(field(0)), Fingerprint: simhash.Fingerprint(field(1)), DocID: field(3)}
	r.Distance, err = checkDistance(field(2))
	return r, err
}

// checkDistance returns d, which must be the distance of two fingerprints.
func checkDistance(d uint64) (int, error) {
	if d > 64 {
		return 0, fmt.Errorf("distance %d: fingerprints have 64 bits", d)
	}
	return int(d), nil
}
