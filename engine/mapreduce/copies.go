package mapreduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"ndd/engine/copies"
	"ndd/engine/copies/postings"
)

// A CopiesDocs is the job that finds copies with an index that is split by documents (Zhang et al.): every map makes an index of its part of the
// signatures, and searches it for all documents, which lie beside it.
//
//	in      a part of what the job signatures writes
//	beside  all of what it writes; or that of other documents
//	shuffle two IDs, each with the number of its signatures, and how many they share
//	out     ID	ID, relation, score, share of the first in the second and of the second in the first, numbers of signatures,
//	        shared ones, method
//
// What goes through the shuffle are whole pairs: it grows as they do.
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

// sliceBytes is what a signature takes in a slice of an index while that is made.
const sliceBytes = 8 + 16

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
	x, err := b.Slice(ctx, t.Threads)
	if err != nil {
		return err
	}
	s, err := x.Searcher(o)
	if err != nil {
		return err
	}
	return j.search(ctx, t, s, ids)
}

// search sends the pairs of the documents beside the map with those of its index. Of two documents with different numbers of
// signatures the smaller one is searched for, of others that with the smaller ID, so a pair comes once.
func (j CopiesDocs) search(ctx context.Context, t *task, s *postings.Searcher, ids [][]byte) error {
	f, err := os.Open(j.Queries)
	if err != nil {
		return err
	}
	defer f.Close()
	var set []uint64
	var matches []postings.Match
	var side end
	var read count
	err = newLines(f).records(ctx, func(r record) (err error) {
		if string(r.key) == endKey {
			e, err := parseEnd(r.value)
			if err != nil {
				return err
			}
			return errors.Join(side.add(e), t.read.add(end{recipe: e.recipe}))
		}
		read.add(r)
		if set, err = parseSet(set[:0], r.value); err != nil || len(set) == 0 {
			return err
		}
		matches = s.AppendLarger(matches[:0], set)
		return t.sendPairs(r.key, len(set), matches, ids)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", j.Queries, err)
	}
	return side.whole(j.Queries, read)
}

// sendPairs sends the pairs of a document, which has so many signatures, with its matches that are larger, or as large and
// of a greater ID.
func (t *task) sendPairs(id []byte, size int, matches []postings.Match, ids [][]byte) error {
	var key []byte
	for _, m := range matches {
		other := ids[m.Doc]
		order := bytes.Compare(id, other)
		if order == 0 || m.Size == size && order > 0 {
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
	var last []byte
	w := copyWriter{t: t, method: j.Copies.Method}
	return t.sorted(ctx, func(_ int, key, _ []byte) error {
		if bytes.Equal(key, last) {
			return nil
		}
		last = append(last[:0], key...)
		at := len(key) - sizeDigits
		if at < 0 {
			return fmt.Errorf("%.40q is no pair", key)
		}
		shared, ok := number(key[at:])
		if !ok {
			return fmt.Errorf("%.40q is no pair", key)
		}
		return w.write(key[:at], int(shared))
	})
}

// A copyWriter writes pairs of documents.
type copyWriter struct {
	t      *task
	method copies.Method
	value  []byte
}

// pairOf takes apart what appendPair wrote.
func pairOf(key []byte) (a, b []byte, sizeA, sizeB int, err error) {
	a, rest, ok1 := bytes.Cut(key, []byte(" "))
	b, sizes, ok2 := bytes.Cut(rest, []byte(" "))
	if !ok1 || !ok2 || len(sizes) != 2*sizeDigits {
		return nil, nil, 0, 0, fmt.Errorf("%.80q is no pair", key)
	}
	x, ok1 := number(sizes[:sizeDigits])
	y, ok2 := number(sizes[sizeDigits:])
	if !ok1 || !ok2 || x == 0 || y == 0 {
		return nil, nil, 0, 0, fmt.Errorf("%.80q is no pair", key)
	}
	return a, b, int(x), int(y), nil
}

// write writes a pair that appendPair wrote.
func (w *copyWriter) write(key []byte, shared int) error {
	a, b, sizeA, sizeB, err := pairOf(key)
	if err != nil {
		return err
	}
	w.t.counters.add(pairs, 1)
	score := w.method.Measure().Similarity(sizeA, sizeB, shared)
	v := append(append(append(w.value[:0], b...), ' '), copies.RelationOf(sizeA, sizeB, shared)...)
	for _, share := range []float64{score, float64(shared) / float64(sizeA), float64(shared) / float64(sizeB)} {
		v = strconv.AppendFloat(append(v, ' '), share, 'f', 4, 64)
	}
	w.value = fmt.Appendf(v, " %d %d %d %s", sizeA, sizeB, shared, w.method)
	return w.t.result(a, w.value)
}

// A CopiesTerms is the first step of the job that finds copies with an index that is split by terms: each list of documents
// gives a partial overlap for every pair of them.
//
//	in      what the job signatures writes
//	shuffle signature (11 digits), number of the document's signatures (4), ID
//	out     ID	ID, numbers of signatures: 4 digits each
//
// What it writes, and the shuffle of the second step carries, grows with the square of the documents that share a signature:
// that is what the other job is for, and this one to compare it with.
type CopiesTerms struct{ Copies copies.Options }

func (j CopiesTerms) mapPart(ctx context.Context, t *task) error {
	if err := t.sendPostings(ctx); err != nil {
		return err
	}
	return t.sameMethod(&j.Copies)
}

// listBytes is what a document of a list takes.
const listBytes = 64

func (j CopiesTerms) reduce(ctx context.Context, t *task) error {
	o, err := join(&j.Copies)
	if err != nil {
		return err
	}
	p := partials{t: t, o: o}
	err = t.postings(ctx, func(next posting) error {
		if !bytes.Equal(next.signature, p.signature) {
			if err := p.flush(); err != nil {
				return err
			}
			p.signature = append(p.signature[:0], next.signature...)
		}
		return p.add(next)
	})
	if err != nil {
		return err
	}
	return p.flush()
}

// A partials is the list of one signature.
type partials struct {
	t         *task
	o         postings.Options
	signature []byte
	ids       []byte
	ends      []int
	list      []postings.Posting
	line      []byte
}

func (p *partials) add(next posting) error {
	p.ids = append(p.ids, next.id...)
	p.list = append(p.list, postings.Posting{Doc: uint32(len(p.ends)), Size: uint32(next.size)})
	p.ends = append(p.ends, len(p.ids))
	return p.t.Budget.Check(fmt.Sprintf("the %d documents of signature %s", len(p.list), p.signature), uint64(listBytes*len(p.list)+2*len(p.ids)))
}

// id returns the ID of a document of the list.
func (p *partials) id(doc uint32) []byte {
	from := 0
	if doc > 0 {
		from = p.ends[doc-1]
	}
	return p.ids[from:p.ends[doc]]
}

// flush writes the pairs of the list: a document at a time with those before it, so that no square is held.
func (p *partials) flush() error {
	for i := 1; i < len(p.list); i++ {
		last := p.list[i]
		for first := i - 1; first >= 0; first-- {
			if !p.o.Possible(int(p.list[first].Size), int(last.Size)) {
				break // what comes before is smaller still
			}
			if err := p.write(p.list[first], last); err != nil {
				return err
			}
		}
	}
	p.ids, p.ends, p.list = p.ids[:0], p.ends[:0], p.list[:0]
	return nil
}

func (p *partials) write(a, b postings.Posting) error {
	if bytes.Equal(p.id(a.Doc), p.id(b.Doc)) {
		return nil
	}
	p.line = appendPair(p.line[:0], p.id(a.Doc), p.id(b.Doc), int(a.Size), int(b.Size))
	id, rest, _ := bytes.Cut(p.line, []byte(" "))
	p.t.counters.add(pairs, 1)
	return p.t.result(id, rest)
}

// A CopiesSum is the second step: it adds the partial overlaps of every pair up and keeps what is similar as a whole.
//
//	in      what the job copies-terms writes
//	shuffle two IDs, each with the number of its signatures	partial overlap
//	out     as that of [CopiesDocs]
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

// sums calls each with every pair and the sum of its values.
func (t *task) sums(ctx context.Context, each func(partition int, pair []byte, sum uint64) error) error {
	var pair []byte
	var sum uint64
	last := 0
	flush := func() error {
		if sum == 0 {
			return nil
		}
		n := sum
		sum = 0
		return each(last, pair, n)
	}
	t.ending = flush
	err := t.sorted(ctx, func(partition int, key, value []byte) error {
		n, err := strconv.ParseUint(string(value), 10, 32)
		if err != nil {
			return fmt.Errorf("%.40q is no partial overlap", value)
		}
		if !bytes.Equal(key, pair) || partition != last {
			if err := flush(); err != nil {
				return err
			}
			pair, last = append(pair[:0], key...), partition
		}
		sum += n
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// combine adds up what a map has of a pair.
func (j CopiesSum) combine(ctx context.Context, t *task) error {
	return t.sums(ctx, func(partition int, pair []byte, sum uint64) error {
		return t.send(partition, pair, strconv.AppendUint(nil, sum, 10))
	})
}

func (j CopiesSum) reduce(ctx context.Context, t *task) error {
	o, err := join(&j.Copies)
	if err != nil {
		return err
	}
	w := copyWriter{t: t, method: j.Copies.Method}
	return t.sums(ctx, func(_ int, pair []byte, sum uint64) error {
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
		return w.write(pair, int(sum))
	})
}
