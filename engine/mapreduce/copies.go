package mapreduce

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"ndd/engine/copies"
	"ndd/engine/copies/postings"
	"ndd/engine/result"
)

// A CopiesDocs is the job that finds copies with an index split by documents (Zhang et al.): every
// map indexes its part of the signatures and searches it for all documents of a side file.
//
//	in      a part of the results of the job signatures
//	beside  all of these results, or those of other documents
//	shuffle two IDs, each with the number of its signatures, and the number of shared ones
//	out     ID	ID, relation, score, share of the first in the second and of the second in the first,
//	        numbers of signatures, shared ones, method, flags
//
// The shuffle carries whole pairs and grows as they do.
type CopiesDocs struct {
	Queries string         // file with signatures
	Copies  copies.Options // method, not Auto, and threshold
}

// join returns the options of package postings.
func join(o *copies.Options) (postings.Options, error) {
	if o.Method == "" || o.Method == copies.Auto {
		return postings.Options{}, fmt.Errorf("method %q: copies are found by one method", o.Method)
	}
	j := postings.Options{Measure: o.Method.Measure(), Threshold: o.Threshold}
	if j.Threshold == 0 {
		j.Threshold = o.Method.Threshold()
	}
	return j, j.Check()
}

// sliceBytes is the memory of a signature while its index is built: the set, the sorted hash, its row and document.
const sliceBytes = 8 + 8 + 8 + 4

func (j CopiesDocs) mapPart(ctx context.Context, t *task) error {
	o, err := join(&j.Copies)
	if err != nil {
		return err
	}
	var b postings.Builder
	defer b.Close()
	var ids [][]byte
	var set []uint64
	var bytes uint64
	err = t.records(ctx, func(r record) (err error) {
		if set, err = parseSet(set[:0], r.value); err != nil {
			return badf("%w", err)
		}
		b.Add(set)
		ids = append(ids, append([]byte(nil), r.key...))
		bytes += uint64(sliceBytes*len(set) + len(r.key) + 64)
		return t.Budget.Check(fmt.Sprintf("the index of %d documents of the part", len(ids)), bytes)
	})
	if err != nil {
		return err
	}
	if err := t.sameMethod(&j.Copies); err != nil {
		return err
	}
	reserved, err := t.reserve(fmt.Sprintf("the index of %d documents of the part", len(ids)), bytes)
	if err != nil {
		return err
	}
	defer reserved.Release()
	x, err := b.Index(ctx, t.Threads)
	if err != nil {
		return err
	}
	return j.search(ctx, t, x, &o, ids)
}

// search sends the pairs of the documents of the side file with those of the index. Of two
// documents the one with fewer signatures is searched for, or the smaller ID if they have as many,
// so that a pair comes once.
func (j CopiesDocs) search(ctx context.Context, t *task, x *postings.Index, o *postings.Options, ids [][]byte) error {
	var set []uint64
	var matches []postings.Match
	counts := make([]uint32, x.Len())
	return t.side(ctx, j.Queries, func(r record) (err error) {
		if set, err = parseSet(set[:0], r.value); err != nil {
			return err
		}
		matches = x.AppendSimilar(matches[:0], set, counts, o)
		return t.sendPairs(r.key, len(set), matches, ids)
	})
}

// side calls each with the records of a file beside a map, which are the results of another job, and
// checks that all are there.
func (t *task) side(ctx context.Context, path string, each func(r record) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var side end
	var read count
	err = newLines(f).records(ctx, func(r record) error {
		if string(r.key) == endKey {
			e, err := parseEnd(r.value)
			if err != nil {
				return err
			}
			return errors.Join(side.add(e), t.read.add(end{recipe: e.recipe}))
		}
		read.add(r)
		return each(r)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return side.whole(path, read)
}

// sendPairs sends the pairs of a document of size signatures with its matches that are larger, or
// as large and of a greater ID.
func (t *task) sendPairs(id []byte, size int, matches []postings.Match, ids [][]byte) error {
	var key []byte
	for _, m := range matches {
		other := ids[m.Doc]
		order := bytes.Compare(id, other)
		if order == 0 || m.Size < size || m.Size == size && order > 0 {
			continue
		}
		t.counters.add(pairs, 1)
		key = appendPair(key[:0], id, other, size, m.Size)
		key = appendNumber(key, uint64(m.Shared), sizeDigits)
		if err := t.send(t.partition(record{key: id}.hash()^record{key: other}.hash()), key, nil); err != nil {
			return err
		}
	}
	return nil
}

// appendPair appends a pair of documents, the one with the smaller ID first.
func appendPair(dst, a, b []byte, sizeA, sizeB int) []byte {
	if bytes.Compare(a, b) > 0 {
		a, b, sizeA, sizeB = b, a, sizeB, sizeA
	}
	dst = append(append(append(append(dst, a...), ' '), b...), ' ')
	return appendNumber(appendNumber(dst, uint64(sizeA), sizeDigits), uint64(sizeB), sizeDigits)
}

func (j CopiesDocs) reduce(ctx context.Context, t *task) error {
	return t.distinct(ctx, func(key []byte) error {
		at := max(0, len(key)-sizeDigits)
		k := readKey(key[at:])
		shared := k.number(sizeDigits)
		if err := k.err("pair", 0); err != nil {
			return err
		}
		return t.copied(j.Copies.Method, key[:at], int(shared))
	})
}

// pairOf parses a pair that appendPair wrote.
func pairOf(key []byte) (a, b []byte, sizeA, sizeB int, err error) {
	a, rest, ok1 := bytes.Cut(key, []byte(" "))
	b, sizes, ok2 := bytes.Cut(rest, []byte(" "))
	k := readKey(sizes)
	sizeA, sizeB = int(k.number(sizeDigits)), int(k.number(sizeDigits))
	if !ok1 || !ok2 || sizeA == 0 || sizeB == 0 || k.err("pair", 0) != nil {
		err = fmt.Errorf("%.80q is no pair", key)
	}
	return a, b, sizeA, sizeB, err
}

// copied writes a pair that appendPair wrote, with its similarity by a method, as a result.
func (t *task) copied(method copies.Method, key []byte, shared int) error {
	a, b, sizeA, sizeB, err := pairOf(key)
	if err != nil {
		return err
	}
	t.counters.add(pairs, 1)
	p := copies.NewPair(method, sizeA, sizeB, shared, 0)
	v := append(append(append(t.value[:0], b...), ' '), p.Relation.String()...)
	for _, share := range []float64{p.Score, p.ContainmentA(), p.ContainmentB()} {
		v = result.AppendReal(append(v, ' '), share)
	}
	v = fmt.Appendf(v, " %d %d %d %s ", sizeA, sizeB, shared, method)
	t.value = appendEscaped(v, p.Flags.String())
	return t.result(a, t.value)
}

// A CopiesTerms is the first step of the job that finds copies with an index split by terms: each
// list of documents gives a partial overlap for each of its pairs.
//
//	in      results of the job signatures
//	shuffle signature (11 digits), number of the document's signatures (4), ID
//	out     ID	ID, numbers of signatures: 4 digits each
//
// Its results, and the shuffle of the second step, grow with the square of the documents that share
// a signature. It is here to be compared with CopiesDocs.
type CopiesTerms struct{ Copies copies.Options }

const (
	sizeDigits = 4
	sizeMax    = 1<<(6*sizeDigits) - 1
)

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
		for _, s := range set {
			key = appendNumber(appendNumber(key[:0], s, printDigits), uint64(len(set)), sizeDigits)
			if err := t.send(t.partition(s), append(key, r.key...), nil); err != nil {
				return err
			}
		}
		return nil
	})
	return cmp.Or(err, t.sameMethod(&j.Copies))
}

// A posting is a document that has a signature.
type posting struct {
	id   []byte
	size int
}

// listBytes is the memory of a document of a list.
const listBytes = 64

func (j CopiesTerms) reduce(ctx context.Context, t *task) error {
	o, err := join(&j.Copies)
	if err != nil {
		return err
	}
	var signature, line []byte
	var list []posting // the documents of one signature so far, the smallest first
	bytesOfIDs := 0
	return t.distinct(ctx, func(key []byte) error {
		k := readKey(key)
		k.number(printDigits)
		next := posting{size: int(k.number(sizeDigits)), id: bytes.Clone(k.rest)}
		if err := k.err("posting", 1); err != nil {
			return err
		}
		if !bytes.Equal(key[:printDigits], signature) {
			signature, list, bytesOfIDs = append(signature[:0], key[:printDigits]...), list[:0], 0
		}
		for _, first := range slices.Backward(list) {
			if !o.Possible(first.size, next.size) {
				break // what comes before is smaller still
			}
			if bytes.Equal(first.id, next.id) {
				continue
			}
			line = appendPair(line[:0], first.id, next.id, first.size, next.size)
			id, rest, _ := bytes.Cut(line, []byte(" "))
			t.counters.add(pairs, 1)
			if err := t.result(id, rest); err != nil {
				return err
			}
		}
		list, bytesOfIDs = append(list, next), bytesOfIDs+len(next.id)
		return t.Budget.Check(fmt.Sprintf("the %d documents of signature %s", len(list), signature),
			uint64(listBytes*len(list)+2*bytesOfIDs))
	})
}

// A CopiesSum is the second step: it adds up the partial overlaps of every pair and keeps similar
// pairs.
//
//	in      results of the job copies-terms
//	shuffle two IDs, each with the number of its signatures	partial overlap
//	out     as [CopiesDocs]
type CopiesSum struct{ Copies copies.Options }

func (j CopiesSum) mapPart(ctx context.Context, t *task) error {
	var key []byte
	return t.records(ctx, func(r record) error {
		key = append(append(append(key[:0], r.key...), ' '), r.value...)
		a, b, _, _, err := pairOf(key)
		if err != nil {
			return badf("%w", err)
		}
		return t.send(t.partition(record{key: a}.hash()^record{key: b}.hash()), key, []byte("1"))
	})
}

func (j CopiesSum) reduce(ctx context.Context, t *task) error {
	o, err := join(&j.Copies)
	if err != nil {
		return err
	}
	var pair []byte
	sum := uint64(0)
	end := func() error {
		if sum == 0 {
			return nil
		}
		_, _, sizeA, sizeB, err := pairOf(pair)
		if err != nil {
			return err
		}
		if sum > uint64(min(sizeA, sizeB)) {
			return fmt.Errorf("%.80q share %d signatures, more than they have", pair, sum)
		}
		if !o.Similar(sizeA, sizeB, int(sum)) {
			return nil
		}
		return t.copied(j.Copies.Method, pair, int(sum))
	}
	err = t.sorted(ctx, func(key, value []byte) error {
		n, err := strconv.ParseUint(string(value), 10, 32)
		if err != nil {
			return fmt.Errorf("%.40q is no partial overlap", value)
		}
		if !bytes.Equal(key, pair) {
			if err := end(); err != nil {
				return err
			}
			pair, sum = append(pair[:0], key...), 0
		}
		sum += n
		return nil
	})
	if err != nil {
		return err
	}
	return end()
}
