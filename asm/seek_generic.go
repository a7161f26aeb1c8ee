package asm

import (
	"encoding/binary"
	"math/bits"
)

// seekGeneric is the specification: it runs one probe after the other, key by key. It leaves all lines to be
// prefetched by the caller.
func seekGeneric(s *Seek, k int, w *Window) (prefetched int) {
	for i := range s.n {
		if s.follow(i, k, w) {
			continue
		}
		s.unfinishedIDs[s.unfinished] = s.remaining[i]
		s.unfinished++
	}
	s.n = 0
	return 0
}

// follow decodes the keys of a probe up to its High, and reports whether it gets there. If not, the low half of
// s.remaining[i] is the number of keys left in the half: at least 1 after an error, and 0 if only the half ended.
func (s *Seek) follow(i, k int, w *Window) bool {
	key, code, end := s.key[i], s.code[i], s.raw[i]+seekAhead
	for ; key < s.high[i]; s.remaining[i]-- {
		if s.remaining[i]%seekUnit == 0 {
			return false
		}
		if code+seekAhead > end || s.hits == seekHits {
			return false
		}
		codes := binary.LittleEndian.Uint64(s.data[code/8:]) >> (code % 8)
		h := w.entries[codes%(1<<WindowBits)] >> 8 & 0xff
		if h > hMax {
			return false
		}
		code += uint64(w.lengths[h])
		raw := binary.LittleEndian.Uint64(s.data[(end-hMax)/8:]) << (^(end - hMax) & 7)
		previous := key
		key ^= (raw>>1 | 1<<63) >> (63 - h)
		if end -= h; key < previous || code > end {
			return false
		}
		if key <= s.high[i] && bits.OnesCount64(key^s.query[i]) <= k {
			s.hitKey[s.hits], s.hitProbe[s.hits] = key, s.remaining[i]
			s.hits++
		}
	}
	return true
}
