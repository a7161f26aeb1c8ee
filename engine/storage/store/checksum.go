package store

// A checksummer computes the checksums of sections' blocks while their bytes arrive, in pieces of any
// length.
type checksummer struct {
	id      *Identity
	sums    [][]uint64 // by section
	section int        // whose bytes came last
	rest    []byte     // of it, less than a block
}

// write adds the next bytes of a section. Sections ascend; -1 is for bytes of none, which have no checksum.
func (s *checksummer) write(section int, data []byte) {
	if section < 0 {
		return
	}
	if section != s.section {
		s.end()
		s.section = section
	}
	if len(s.rest) > 0 {
		n := min(blockBytes-len(s.rest), len(data))
		s.rest = append(s.rest, data[:n]...)
		if data = data[n:]; len(s.rest) == blockBytes {
			s.end()
		}
	}
	for ; len(data) >= blockBytes; data = data[blockBytes:] {
		s.add(data[:blockBytes])
	}
	s.rest = append(s.rest, data...)
}

// end completes the last block of the section, which may be short.
func (s *checksummer) end() {
	if len(s.rest) > 0 {
		s.add(s.rest)
		s.rest = s.rest[:0]
	}
}

func (s *checksummer) add(block []byte) {
	for len(s.sums) <= s.section {
		s.sums = append(s.sums, nil)
	}
	sums := &s.sums[s.section]
	*sums = append(*sums, s.id.sum(uint64(s.section), uint64(len(*sums)), block))
}
