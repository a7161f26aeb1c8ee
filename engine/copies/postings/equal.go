package postings

// expand puts the documents of a group of equal ones where its first stands, and adds the pairs of each group.
func (b *Builder) expand(equal [][]uint32, pairs []Pair, most int, r *Report) []Pair {
	if len(equal) == 0 {
		return pairs
	}
	members := make(map[uint32][]uint32, len(equal)) // by first document: those to list
	for _, group := range equal {
		members[group[0]] = group
		r.Equal += len(group) - 1
		if len(group) > most {
			members[group[0]] = group[:1]
			r.Unlisted += len(group) - 1
		}
	}
	all := func(doc uint32) []uint32 {
		if group := members[doc]; group != nil {
			return group
		}
		return []uint32{doc}
	}
	expanded := make([]Pair, 0, len(pairs))
	for _, p := range pairs {
		for _, x := range all(p.A) {
			for _, y := range all(p.B) {
				expanded = append(expanded, Pair{x, y, p.SizeA, p.SizeB, p.Shared}.ordered())
			}
		}
	}
	for _, group := range equal {
		expanded = appendGroup(expanded, group, b.size(group[0]), most)
	}
	return expanded
}

// appendGroup appends the pairs of equal documents of a size: all of them, or, of more documents than most, the first with
// each.
func appendGroup(pairs []Pair, group []uint32, size, most int) []Pair {
	firsts := group
	if len(group) > most {
		firsts = group[:1]
	}
	for i, a := range firsts {
		for _, b := range group[i+1:] {
			pairs = append(pairs, Pair{a, b, size, size, size})
		}
	}
	return pairs
}
