package store

import "slices"

// AppendFile appends a complete file of these sections to dst, with every checksum, as a [Writer]
// writes it, and returns the result. It is for small files that are made in memory, and for tests that
// write what no Writer would. It reads the Name, of 1 to 32 bytes, and the Data of each section.
func AppendFile(dst []byte, kind Kind, id Identity, sections []Section) []byte {
	begin := len(dst)
	head := header{kind, id}
	dst = head.append(dst)
	var entries []entry
	var sums [][]uint64
	for i, s := range sections {
		e := entry{name: s.Name, offset: uint64(len(dst) - begin), length: uint64(len(s.Data))}
		from := len(dst)
		dst = append(dst, s.Data...)
		dst = append(dst, make([]byte, e.padded()-e.length)...)
		var of []uint64
		for data := range slices.Chunk(dst[from:], blockBytes) {
			of = append(of, head.sum(uint64(i), uint64(len(of)), data))
		}
		entries, sums = append(entries, e), append(sums, of)
	}
	return head.appendTail(dst, uint64(len(dst)-begin), entries, sums)
}
