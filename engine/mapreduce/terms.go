package mapreduce

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/copies/postings"
)

// A CopiesTerms is the first step of the job that finds copies with an index split by terms: each
// list of documents gives a partial overlap for each of its pairs.
//
//	in      results of the job signatures
//	shuffle signature (11 digits), number of the document's signatures (4), hash of all of them (11), ID
//	out     ID	ID, numbers of signatures: 4 digits each; frequent if it is in too many or too few sets
//
// Its results, and the shuffle of the second step, grow with the square of the documents that share
// a signature. It exists for comparison with CopiesDocs.
type CopiesTerms struct{ Copies copies.Options }

func (j CopiesTerms) mapPart(ctx context.Context, t *task) error {
	var key []byte
	var set []uint64
	err := t.records(ctx, func(r record) (err error) {
		if set, err = parseSet(set[:0], r.value); err != nil {
			return badf("%w", err)
		}
		if len(r.key) == 0 || len(set) > sizeMax {
			return badf("%.40q has %d signatures: at most %d, and an ID", r.key, len(set), sizeMax)
		}
		all := hashOfSet(r.value)
		for _, s := range set {
			key = appendNumber(appendNumber(key[:0], s, printDigits), uint64(len(set)), sizeDigits)
			key = appendNumber(key, all, printDigits)
			if err := t.send(t.partition(s), append(key, r.key...), nil); err != nil {
				return err
			}
		}
		return nil
	})
	return cmp.Or(err, t.sameRecipe(&j.Copies))
}

// A posting is a document that has a signature.
type posting struct {
	id   []byte
	size int
	set  uint64 // hash
}

// listBytes is the memory of a document of a list.
const listBytes = 72

// frequent marks a partial overlap by a signature that is too rare or too common (min-df, max-df). The overlap counts
// for pairs that other signatures find, but finds none itself.
const frequent = " frequent"

func (j CopiesTerms) reduce(ctx context.Context, t *task) error {
	o, err := join(&j.Copies)
	if err != nil {
		return err
	}
	var signature []byte
	var list []posting // the documents of one signature so far, the smallest first, equal sets together
	bytesOfIDs := 0
	err = t.distinct(ctx, func(key, _ []byte) error {
		k := readKey(key)
		k.number(printDigits)
		next := posting{size: int(k.number(sizeDigits)), set: k.number(printDigits), id: bytes.Clone(k.unread)}
		if err := k.err("posting", 1); err != nil {
			return err
		}
		if !bytes.Equal(key[:printDigits], signature) {
			if err := t.overlaps(list, &o); err != nil {
				return err
			}
			signature, list, bytesOfIDs = append(signature[:0], key[:printDigits]...), list[:0], 0
		}
		list, bytesOfIDs = append(list, next), bytesOfIDs+len(next.id)
		return t.Budget.Check(fmt.Sprintf("the %d documents of signature %s", len(list), signature),
			uint64(listBytes*len(list)+2*bytesOfIDs))
	})
	if err != nil {
		return err
	}
	return t.overlaps(list, &o)
}

// overlaps writes the partial overlaps of all pairs of documents that have a signature. If more than MaxEqual documents
// have equal sets, only the first takes part: [CopyRows] adds the pairs of the others.
func (t *task) overlaps(list []posting, o *postings.Options) error {
	// Divide the list into groups of equal sets.
	sets := 0
	var firsts []posting // a large group has only its first document
	for from, to := 0, 0; from < len(list); from, sets = to, sets+1 {
		for to = from; to < len(list) && list[to].set == list[from].set && list[to].size == list[from].size; to++ {
		}
		group := list[from:to]
		if len(group) > cmp.Or(o.MaxEqual, postings.MaxEqual) {
			group = group[:1]
		}
		firsts = append(firsts, group...)
	}
	// Pair them, as long as their sizes can be similar.
	for i, next := range firsts {
		for _, first := range slices.Backward(firsts[:i]) {
			if !o.Possible(first.size, next.size) {
				break // all earlier documents are at most as large
			}
			if err := t.overlap(first, next, o.Finds(sets)); err != nil {
				return err
			}
		}
	}
	return nil
}

// overlap writes the partial overlap of a pair. It is frequent if the signature does not find pairs.
func (t *task) overlap(a, b posting, finds bool) error {
	if bytes.Equal(a.id, b.id) {
		return nil
	}
	t.value = appendPair(t.value[:0], a.id, b.id, a.size, b.size)
	if !finds {
		t.value = append(t.value, frequent...)
	}
	id, rest, _ := bytes.Cut(t.value, []byte(" "))
	t.counters.add(pairs, 1)
	return t.result(id, rest)
}

// A CopiesSum is the second step: it adds up the partial overlaps of every pair and keeps similar
// pairs.
//
//	in      results of the job copies-terms
//	shuffle two IDs, each with the number of its signatures	1, or 0 of a frequent signature
//	out     as [CopiesDocs]
type CopiesSum struct{ Copies copies.Options }

func (j CopiesSum) mapPart(ctx context.Context, t *task) error {
	var key []byte
	return t.records(ctx, func(r record) error {
		value, isFrequent := bytes.CutSuffix(r.value, []byte(frequent))
		key = append(append(append(key[:0], r.key...), ' '), value...)
		a, b, _, _, err := pairOf(key)
		if err != nil {
			return badf("%w", err)
		}
		count := []byte("1")
		if isFrequent {
			count[0] = '0'
		}
		return t.send(t.partition(record{key: a}.hash()^record{key: b}.hash()), key, count)
	})
}

// An overlap counts the signatures that two documents share.
type overlap struct {
	pair   []byte
	shared int
	rare   bool // one of the shared signatures is rare enough to find pairs
}

func (j CopiesSum) reduce(ctx context.Context, t *task) error {
	o, err := join(&j.Copies)
	if err != nil {
		return err
	}
	var sum overlap
	err = t.sorted(ctx, func(key, value []byte) error {
		if string(value) != "0" && string(value) != "1" {
			return fmt.Errorf("%.40q is no partial overlap", value)
		}
		if !bytes.Equal(key, sum.pair) {
			if err := j.end(t, &sum, &o); err != nil {
				return err
			}
			sum = overlap{pair: append(sum.pair[:0], key...)}
		}
		sum.shared++
		sum.rare = sum.rare || value[0] == '1'
		return nil
	})
	if err != nil {
		return err
	}
	return j.end(t, &sum, &o)
}

// end writes a pair if it is similar.
func (j CopiesSum) end(t *task, sum *overlap, o *postings.Options) error {
	if sum.shared == 0 {
		return nil
	}
	_, _, sizeA, sizeB, err := pairOf(sum.pair)
	if err != nil {
		return err
	}
	if sum.shared > min(sizeA, sizeB) {
		return fmt.Errorf("%.80q share %d signatures, more than they have", sum.pair, sum.shared)
	}
	if !o.Similar(sizeA, sizeB, sum.shared) {
		return nil
	}
	if !sum.rare && sum.shared < max(sizeA, sizeB) {
		t.counters.add(frequentPairs, 1)
		return nil
	}
	return t.writeCopy(sum.pair, sum.shared)
}
