package asm

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// seekGeneric is the specification: one probe after the other, one key after the other.
func seekGeneric(s *Seek, k int, w *Window) {
	for i := range s.n {
		if s.follow(i, k, w) {
			continue
		}
		s.goneID[s.gone] = s.left[i]
		s.gone++
	}
	s.n = 0
}

// follow makes the keys of a probe up to its High, or reports that it does not get there. Then it counts
// how many keys are left, and one if none but something is wrong.
func (s *Seek) follow(i, k int, w *Window) bool {
	key, code, end := s.key[i], s.code[i], s.raw[i]+seekAhead
	for ; key < s.high[i]; s.left[i]-- {
		if s.left[i]%seekUnit == 0 {
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
		before := key
		key ^= (raw>>1 | 1<<63) >> (63 - h)
		if end -= h; key < before || code > end {
			return false
		}
		if key <= s.high[i] && bits.OnesCount64(key^s.query[i]) <= k {
			s.hitKey[s.hits], s.hitProbe[s.hits] = key, s.left[i]
			s.hits++
		}
	}
	return true
}

// checkSeek looks in two halves of consecutive keys; in one the range ends.
func checkSeek() error {
	const n, from, bytes, most = 75, seekFirst, 512, 60
	data := make([]byte, from+bytes)
	half := data[from:]
	copy(half, rulerBlock(n, bytes))
	half[0] = n - 1
	w := rulerWindow(n, half)
	for v := range w.quick {
		if h := bits.TrailingZeros8(^uint8(v)); h < quickBits {
			w.quick[v], w.quickLengths[v] = uint8(h), uint8(h+1)
		}
	}
	var s Seek
	s.Reset(data)
	s.Add(3, from, from+bytes, 0, 40, most)
	s.Add(5, from, from+bytes, 0, 40, n)
	s.Run(1, w)
	counts, sums := [8]int{}, [8]uint64{}
	for i := range s.Hits() {
		number, key := s.Hit(i)
		counts[number%8]++
		sums[number%8] += key
	}
	number, ended := -1, false
	if s.Left() == 1 {
		number, ended = s.LeftAt(0)
	}
	const sum = 40 + 41 + 42 + 44 + 32 + 8 + 56
	if counts[3] != 7 || sums[3] != sum || counts[5] != 7 || sums[5] != sum || number != 5 || !ended {
		return fmt.Errorf("hits %v, sums %v, %d left: %d, ended %v", counts, sums, s.Left(), number, ended)
	}
	return nil
}
