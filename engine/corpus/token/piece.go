package token

// A piece is a part of a normalised chunk and the part of the source that it was made of. It ends where the next one
// begins, in both.
//
//	source     n a i ¨ v e _ ﬁ n          plain {0,0}   joint {2,2} ï from i and ¨   plain {4,5} ve_
//	normal     n a ï v e _ f i n          joint {7,8} fi from the ligature           plain {9,11} n
//
// In a plain piece, bytes of both correspond one to one; in a joint one, all of one to all of the other. What is before
// the first piece is plain and starts at 0 in both; the last piece is plain.
type piece struct {
	normal, source int
	joint          bool
}

// joint begins a joint piece. Pieces that began where it begins, or after it, were undone.
func (n *normaliser) joint(normal, source int) {
	for i := len(n.pieces) - 1; i >= 0 && n.pieces[i].source >= source; i-- {
		n.pieces = n.pieces[:i]
	}
	n.pieces = append(n.pieces, piece{normal, source, true})
}

// plain begins a plain piece.
func (n *normaliser) plain(normal, source int) {
	n.pieces = append(n.pieces, piece{normal, source, false})
}

// locate turns positions as if the chunk had been normalised in place, which ascend from call to call, into positions in
// the source, in which the chunk starts at origin.
func (n *normaliser) locate(tokens []Token, origin int) {
	for i := range tokens {
		t := &tokens[i]
		start, stop := t.Start-origin, t.End-origin
		for n.cursor < len(n.pieces) && n.pieces[n.cursor].normal <= start {
			n.cursor++
		}
		end := n.cursor
		for end < len(n.pieces) && n.pieces[end].normal < stop {
			end++
		}
		t.Start, t.End = origin+n.first(n.cursor, start), origin+n.last(end, stop)
	}
}

// first returns the source position of the start of what is at a position in the piece before next.
func (n *normaliser) first(next, at int) int {
	p := piece{}
	if next > 0 {
		p = n.pieces[next-1]
	}
	if p.joint {
		return p.source
	}
	return p.source + at - p.normal
}

// last returns the source position of the end of what ends at a position in the piece before next, or at its end.
func (n *normaliser) last(next, at int) int {
	p := piece{}
	if next > 0 {
		p = n.pieces[next-1]
	}
	if p.joint {
		return n.pieces[next].source // a plain piece follows
	}
	return p.source + at - p.normal
}
