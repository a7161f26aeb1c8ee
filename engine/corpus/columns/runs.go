package columns

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// runsSpare is the number of values that the runs of a page may have in excess of the page: packed bits are in groups
// of eight.
const runsSpare = 512

// checkRuns checks that a sequence of runs and packed bits does not have more values than its page.
func checkRuns(b []byte, width, values int) error {
	if width > 32 {
		return corrupt("values of %d bits", width)
	}
	for sum := uint64(0); len(b) > 0; {
		head, n := binary.Uvarint(b)
		if n <= 0 {
			return corrupt("a run without a length")
		}
		b = b[n:]
		count, size := head>>1, uint64(width+7)/8
		if count > uint64(values)+runsSpare {
			return corrupt("a run of %d values in a page of %d", count, values)
		}
		if head&1 != 0 {
			count, size = 8*count, count*uint64(width)
		}
		if size > uint64(len(b)) {
			return corrupt("a run of %d values that does not end", count)
		}
		if sum += count; sum > uint64(values)+runsSpare {
			return corrupt("runs of %d values and more in a page of %d", sum, values)
		}
		b = b[size:]
	}
	return nil
}

// isDictionary reports whether a page's values are indexes of a dictionary.
func isDictionary(e format.Encoding) bool {
	//lint:ignore SA1019 files of the first version of the format name it so
	return e == format.RLEDictionary || e == format.PlainDictionary
}

// checkValues checks that the beginning of a page's values agrees with their number and with the maximum of their
// bytes.
func checkValues(b []byte, encoding format.Encoding, values int, maxBytes int64) error {
	if isDictionary(encoding) {
		if len(b) == 0 {
			return nil // all values are null
		}
		return checkRuns(b[1:], int(b[0]), values)
	}
	switch encoding {
	case format.RLE: // booleans, after their length
		if len(b) < 4 {
			return corrupt("runs without a length")
		}
		return checkRuns(b[4:], 1, values)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		return checkDelta(b, values)
	case format.DeltaByteArray:
		return checkPrefixes(b, values, maxBytes)
	}
	return nil
}

// checkDelta reads the number of values that a sequence of differences claims.
func checkDelta(b []byte, values int) error {
	if len(b) == 0 && values == 0 {
		return nil
	}
	var claimed uint64
	for range 3 { // block size, number of its parts, values
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return corrupt("differences without a header")
		}
		b, claimed = b[n:], v
	}
	if claimed > uint64(values) {
		return corrupt("differences of %d values in a page of %d", claimed, values)
	}
	return nil
}

// checkPrefixes adds up the bytes that values share with the value before them.
func checkPrefixes(b []byte, values int, maxBytes int64) error {
	if err := checkDelta(b, values); err != nil {
		return err
	}
	prefixes, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, b)
	if err != nil {
		return corrupt("%v", err)
	}
	sum := int64(len(b))
	for _, n := range prefixes {
		if sum += int64(n); n < 0 || sum > maxBytes {
			return corrupt("values repeat more than %d bytes of others, the limit is %d", sum, maxBytes)
		}
	}
	return nil
}
