package server

import (
	"context"
	"math/bits"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"ndd/engine/corpus/simhash"
	"ndd/engine/near/compare"
)

// passagesMax is how many passages of each document an answer has at most.
const passagesMax = 100

// compareRequest is the body of /v1/compare.
type compareRequest struct {
	A  Subject  `json:"a" doc:"One of them"`
	B  *Subject `json:"b,omitempty" doc:"The other one"`
	ID *string  `json:"b_id,omitempty" minLength:"1" maxLength:"2048" doc:"Or the id of the other one, of which the server shows the file that it was loaded from (--show-files)"`
	K  *integer `json:"k,omitempty" doc:"Distance up to which they are near; the default is the index's own k"`
}

// compareAnswer says how near two subjects are, and of two documents what they share.
type compareAnswer struct {
	Near     bool            `json:"near" doc:"Whether the fingerprints are within k bits of each other"`
	K        int             `json:"k"`
	Distance int             `json:"distance" doc:"Number of bits in which the fingerprints differ, or the nearer ones where documents have two"`
	Bits     []int           `json:"bits" nullable:"false" doc:"Those bits, leading bit first; 63 is the leading one, 0 the last"`
	A        string          `json:"a" doc:"Fingerprint of a, or both with a comma"`
	B        string          `json:"b" doc:"Fingerprint of b, or both with a comma"`
	Texts    *textComparison `json:"texts,omitempty" doc:"If both are documents: what their texts share, and what not"`
}

// textComparison is what two texts have in common, by their shingles: 3 words in a row, or 5 characters.
type textComparison struct {
	Shared  int       `json:"shared_shingles"`
	Jaccard float64   `json:"jaccard" doc:"Shared shingles as a part of all"`
	AInB    float64   `json:"a_in_b" doc:"Part of a's shingles that b has"`
	BInA    float64   `json:"b_in_a" doc:"Part of b's shingles that a has"`
	OnlyA   []passage `json:"only_a" nullable:"false" doc:"Passages that only a has, in order, 100 at most"`
	OnlyB   []passage `json:"only_b" nullable:"false" doc:"Passages that only b has, in order, 100 at most"`
}

// passage is a part of a text.
type passage struct {
	Start int    `json:"start" doc:"First byte in the text"`
	End   int    `json:"end" doc:"Byte after the last"`
	Words int    `json:"words"`
	Text  string `json:"text"`
}

// registerCompare adds /v1/compare to the API.
func (s *service) registerCompare(api huma.API) {
	type input struct{ Body compareRequest }
	type output struct{ Body *compareAnswer }
	huma.Register(api, operation(http.MethodPost, "/v1/compare", "compare", "Compare two fingerprints or documents",
		"How many bits their fingerprints differ in, and which; of two documents also what their texts share. Neither needs to be stored, and neither is."),
		func(ctx context.Context, in *input) (*output, error) {
			a, p := s.compare(ctx, &in.Body)
			if p != nil {
				return nil, p
			}
			return &output{a}, nil
		})
}

func (s *service) compare(ctx context.Context, in *compareRequest) (*compareAnswer, *problem) {
	k, p := argumentsOf(ctx).distance(s.index.Load(), in.K)
	if p != nil {
		return nil, p
	}
	other, p := s.otherSide(ctx, in)
	if p != nil {
		return nil, p
	}
	var sides [2]sketch
	var texts []string
	for i, side := range []*Subject{&in.A, other} {
		place := at("body", []string{"a", "b"}[i])
		of, p := s.sketch(ctx, side, place)
		if p != nil {
			return nil, p
		}
		sides[i] = of
		if side.Fingerprint == nil {
			text, _, p := side.text(ctx, s, place)
			if p != nil {
				return nil, p
			}
			texts = append(texts, text)
		}
	}
	answer := &compareAnswer{K: k, A: sides[0].String(), B: sides[1].String(), Distance: 65}
	for i, a := range sides[0].prints {
		if b := sides[1].prints[i]; simhash.Distance(a, b) < answer.Distance {
			answer.Distance, answer.Bits = simhash.Distance(a, b), differing(a, b)
		}
	}
	answer.Near = answer.Distance <= k
	if len(texts) == 2 {
		c, err := compare.Texts(texts[0], texts[1], *s.index.Load().Recipe())
		if err != nil {
			return nil, broken(err)
		}
		answer.Texts = &textComparison{c.Shared, c.Jaccard, c.AInB, c.BInA, passages(texts[0], &c.A), passages(texts[1], &c.B)}
	}
	return answer, nil
}

// otherSide returns the second subject of a comparison: as it was sent, or a document that the server shows.
func (s *service) otherSide(ctx context.Context, in *compareRequest) (*Subject, *problem) {
	switch {
	case (in.B == nil) == (in.ID == nil):
		return nil, misfit("body", "expected required property b, or else b_id")
	case in.B != nil:
		return in.B, nil
	}
	text, p := s.shownText(ctx, *in.ID, at("body", "b_id"))
	return &Subject{Text: &text}, p
}

// differing returns the bits in which two fingerprints differ, the leading one first.
func differing(a, b simhash.Fingerprint) []int {
	list := []int{}
	for diff := uint64(a ^ b); diff != 0; {
		bit := 63 - bits.LeadingZeros64(diff)
		list, diff = append(list, bit), diff&^(1<<bit)
	}
	return list
}

// passages returns the first passages of a text that the other one does not have.
func passages(text string, side *compare.Text) []passage {
	list := make([]passage, 0, min(len(side.Passages), passagesMax))
	for _, p := range side.Passages[:min(len(side.Passages), passagesMax)] {
		list = append(list, passage{p.Start, p.End, p.Tokens, text[p.Start:p.End]})
	}
	return list
}
