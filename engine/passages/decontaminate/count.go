package decontaminate

import (
	"cmp"
	"slices"

	"example.org/ndd/engine/corpus/token"
	"example.org/ndd/engine/storage/store"
)

// count selects the hits among the candidates, and counts their items and documents.
func (r *Result) count() {
	met, answered := make([]bool, len(r.x.items)), make([]bool, len(r.x.items))
	in := make([]int, len(r.Sets)) // for each set, the last document with hits, from 1
	for b := store.Fields(r.spool.All); len(b) > 0; {
		// Decode a document, and compute the scores of its candidates.
		g := hitDocument{offset: len(r.spool.All) - len(b), firstScore: len(r.scores)}
		_, source, line := b.Text(), string(b.Text()), int(b.Uvarint())
		g.line, g.hash = line, b.Word()
		var hits []scoredHit
		r.x.candidates(&b, func(item int, h Hit, spans []span) {
			h.Score = r.score(item, spans)
			if reaches(h.Score, r.x.o.Threshold) && !r.isPhrase(item) {
				hits = append(hits, scoredHit{h, item, len(r.scores)})
			}
			r.scores = append(r.scores, 0)
		})
		if len(hits) == 0 {
			r.scores = r.scores[:g.firstScore]
			continue
		}
		// Count the best hits for the sets and items.
		for _, h := range r.x.best(hits) {
			r.scores[h.candidate] = h.Score
			set := &r.Sets[h.Item.Set]
			if in[h.Item.Set] != len(r.hitDocuments)+1 {
				in[h.Item.Set] = len(r.hitDocuments) + 1
				set.Documents++
			}
			if !met[h.item] {
				met[h.item] = true
				set.Met++
			}
			if h.Answer && !answered[h.item] {
				answered[h.item] = true
				set.Answered++
			}
		}
		// Add the document to those of its file.
		rows, ok := r.fileRanges[source]
		if !ok {
			rows[0] = len(r.hitDocuments)
		}
		r.hitDocuments = append(r.hitDocuments, g)
		r.fileRanges[source] = [2]int{rows[0], len(r.hitDocuments)}
	}
	r.Met, r.sums = len(r.hitDocuments), nil
	// Count the items that are phrases.
	for i := range r.x.items {
		if r.isPhrase(i) {
			r.Sets[r.x.items[i].Set].Phrases++
		}
	}
}

// A scoredHit is a hit with the numbers of its item and its candidate.
type scoredHit struct {
	Hit
	item, candidate int
}

// fit returns the number of equal tokens of the item minus the number of its other tokens.
func (h *scoredHit) fit() int { return 2*h.equal - h.Item.Tokens() }

// best returns the hits of a document, and only the best fit for each passage. A passage often matches all
// items of one template, but has the words of only one of them. An item with all its words in the document is
// always listed. If several items of a set have equal words and answers, one of them is listed.
func (x *Items) best(hits []scoredHit) (all []scoredHit) {
	slices.SortStableFunc(hits, func(a, b scoredHit) int {
		return cmp.Or(cmp.Compare(b.fit(), a.fit()), cmp.Compare(b.Score, a.Score))
	})
	whole := map[[2]uint64]bool{} // keys are the set, and a hash of an item with its answer
	for _, h := range hits {
		if h.equal < h.Item.Tokens() {
			if !slices.ContainsFunc(all, h.overlaps) {
				all = append(all, h)
			}
			continue
		}
		key := [2]uint64{uint64(h.Item.Set)}
		for _, list := range [][]uint64{x.tokens[h.Item.from:h.Item.to], x.answers[h.Item.answerFrom:h.Item.answerTo]} {
			for _, t := range list {
				key[1] = key[1]*token.Base + t
			}
		}
		if !whole[key] {
			whole[key], all = true, append(all, h)
		}
	}
	return all
}

// overlaps reports whether two hits share more than half of the shorter passage.
func (h *scoredHit) overlaps(other scoredHit) bool {
	common := min(other.To, h.To) - max(other.From, h.From)
	return 2*common > min(other.To-other.From, h.To-h.From)
}
