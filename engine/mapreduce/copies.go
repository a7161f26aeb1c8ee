package mapreduce

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/copies/postings"
	"example.org/ndd/engine/result"
)

// A CopiesDocs is the job that finds copies with an index split by documents (Zhang et al.): every
// map indexes its part of the signatures and searches it for all documents of a side file.
//
//	in      a part of the results of the job signatures
//	side    all results of that job, or the results for other documents
//	shuffle two IDs, each with the number of its signatures, and the number of shared ones
//	out     ID	ID, relation, score, share of the first in the second and of the second in the first,
//	        numbers of signatures, shared ones, method, flags
//
// The shuffle carries whole pairs, so its size grows with their number. A map reads the side file twice. First it
// counts the sets that contain each signature of its part, then it searches. If more than MaxEqual documents have equal
// sets, only the document with the smallest ID is paired with other documents. Each of the rest has one pair, with that
// document. In this case a map reads the side file a third time.
type CopiesDocs struct {
	Queries string         // file with signatures
	Copies  copies.Options // method, not Auto, recipe, threshold and MaxDocuments
}

// join returns the options of package postings.
func join(o *copies.Options) (postings.Options, error) {
	if o.Method == "" || o.Method == copies.Auto {
		return postings.Options{}, fmt.Errorf("method %q: copies are found by one method", o.Method)
	}
	j := o.JoinOptions(o.Method)
	return j, j.Check()
}

// sliceBytes is the memory of a signature while its index is built: the set, the sorted hash, its row, document
// and count.
const sliceBytes = 8 + 8 + 8 + 4 + 4

func (j CopiesDocs) mapPart(ctx context.Context, t *task) error {
	o, err := join(&j.Copies)
	if err != nil {
		return err
	}
	// Read the part. Each distinct set is added once.
	var b postings.Builder
	defer b.Close()
	x := &setIndex{t: t, j: &j, o: &o, docs: map[uint64]uint32{}, first: map[uint64][]byte{}}
	var set []uint64
	var bytes uint64
	err = t.records(ctx, func(r record) (err error) {
		if set, err = parseSet(set[:0], r.value); err != nil {
			return badf("%w", err)
		}
		bytes += uint64(len(r.key) + 64)
		if x.add(hashOfSet(r.value), r.key) {
			b.Add(set)
			bytes += uint64(sliceBytes*len(set) + seenBytes)
		}
		return t.Budget.Check(x.describe(), bytes)
	})
	if err != nil {
		return err
	}
	// Build the index.
	if err := t.sameRecipe(&j.Copies); err != nil {
		return err
	}
	reserved, err := t.reserve(x.describe(), bytes)
	if err != nil {
		return err
	}
	defer reserved.Release()
	if x.index, err = b.Index(ctx, t.Threads); err != nil {
		return err
	}
	// Search it for the documents of the side file.
	return cmp.Or(x.count(ctx), x.search(ctx))
}

// A setIndex is an index of the sets of a part.
type setIndex struct {
	t     *task
	j     *CopiesDocs
	o     *postings.Options
	index *postings.Index

	docs   map[uint64]uint32 // number of a set in the index, by its hash
	hashes []uint64          // hash of a set, by its number
	ids    [][][]byte        // documents with a set, by its number
	first  map[uint64][]byte // smallest ID of the documents with a set, if there are more than MaxEqual
}

// seenBytes is the memory of a hash in a map.
const seenBytes = 32

// describe describes the index in messages.
func (x *setIndex) describe() string {
	return fmt.Sprintf("the index of %d sets of the part", len(x.ids))
}

// add adds a document, and reports whether its set is new.
func (x *setIndex) add(hash uint64, id []byte) bool {
	doc, ok := x.docs[hash]
	if !ok {
		doc = uint32(len(x.ids))
		x.docs[hash], x.hashes, x.ids = doc, append(x.hashes, hash), append(x.ids, nil)
	}
	x.ids[doc] = append(x.ids[doc], bytes.Clone(id))
	return !ok
}

// count counts the distinct sets of the side file in the index, as package postings counts documents. It also finds the
// sets of more than MaxEqual documents.
func (x *setIndex) count(ctx context.Context) error {
	var set []uint64
	seen := map[uint64]int{} // documents by the hash of their set
	err := x.t.side(ctx, x.j.Queries, func(r record) (err error) {
		hash := hashOfSet(r.value)
		if set, err = parseSet(set[:0], r.value); err != nil || len(set) == 0 {
			return err
		}
		if seen[hash]++; seen[hash] > 1 {
			if seen[hash] > cmp.Or(x.o.MaxEqual, postings.MaxEqual) {
				x.first[hash] = nil
			}
			return nil
		}
		x.index.Count(set)
		return x.t.Budget.Check(fmt.Sprintf("the hashes of %d sets of %s", len(seen), x.j.Queries), uint64(seenBytes*len(seen)))
	})
	if err != nil || len(x.first) == 0 {
		return err
	}
	return x.t.side(ctx, x.j.Queries, func(r record) error {
		hash := hashOfSet(r.value)
		if first, ok := x.first[hash]; ok && (first == nil || bytes.Compare(r.key, first) < 0) {
			x.first[hash] = bytes.Clone(r.key)
		}
		return nil
	})
}

// search sends the pairs of a document of the side file and a document of the index. It searches for the document with
// fewer signatures. If both have the same number, it searches for the smaller ID. So it sends each pair once.
func (x *setIndex) search(ctx context.Context) error {
	var set []uint64
	var matches []postings.Match
	counts := make([]uint32, x.index.Len())
	return x.t.side(ctx, x.j.Queries, func(r record) (err error) {
		hash := hashOfSet(r.value)
		if first, ok := x.first[hash]; ok && !bytes.Equal(first, r.key) {
			return nil // the search for the first document finds its pair
		}
		if set, err = parseSet(set[:0], r.value); err != nil {
			return err
		}
		matches = x.index.AppendSimilar(matches[:0], set, counts, x.o)
		for _, m := range matches {
			if err := x.send(r.key, hash, len(set), m); err != nil {
				return err
			}
		}
		return nil
	})
}

// side calls each with every record of a side file, which has the results of another job. It checks that the file is
// complete.
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
	return side.checkWhole(path, read)
}

// send sends the pairs of a document with size signatures and the documents of a match. It skips documents that have
// fewer signatures, or the same number and no greater ID.
func (x *setIndex) send(id []byte, hash uint64, size int, m postings.Match) error {
	first, isLarge := x.first[x.hashes[m.Doc]]
	var key []byte
	for _, other := range x.ids[m.Doc] {
		order := bytes.Compare(id, other)
		if order == 0 || m.Size < size || m.Size == size && order > 0 {
			continue
		}
		if isLarge && hash != x.hashes[m.Doc] && !bytes.Equal(first, other) {
			continue
		}
		if m.Frequent {
			x.t.counters.add(frequentPairs, 1)
			continue
		}
		x.t.counters.add(pairs, 1)
		key = appendNumber(appendPair(key[:0], id, other, size, m.Size), uint64(m.Shared), sizeDigits)
		if err := x.t.send(x.t.partition(record{key: id}.hash()^record{key: other}.hash()), key, nil); err != nil {
			return err
		}
	}
	return nil
}

// The number of a document's signatures in keys.
const (
	sizeDigits = 4
	sizeMax    = 1<<(6*sizeDigits) - 1
)

// appendPair appends a pair of documents, the one with the smaller ID first.
func appendPair(dst, a, b []byte, sizeA, sizeB int) []byte {
	if bytes.Compare(a, b) > 0 {
		a, b, sizeA, sizeB = b, a, sizeB, sizeA
	}
	dst = append(append(append(append(dst, a...), ' '), b...), ' ')
	return appendNumber(appendNumber(dst, uint64(sizeA), sizeDigits), uint64(sizeB), sizeDigits)
}

func (j CopiesDocs) reduce(ctx context.Context, t *task) error {
	return t.distinct(ctx, func(key, _ []byte) error {
		start := max(0, len(key)-sizeDigits)
		k := readKey(key[start:])
		shared := k.number(sizeDigits)
		if err := k.err("pair", 0); err != nil {
			return err
		}
		return t.writeCopy(&j.Copies, key[:start], int(shared))
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

// writeCopy writes the result for a pair that appendPair wrote, with the similarity that a method computes.
func (t *task) writeCopy(o *copies.Options, key []byte, shared int) error {
	a, b, sizeA, sizeB, err := pairOf(key)
	if err != nil {
		return err
	}
	t.counters.add(pairs, 1)
	p := o.NewPair(o.Method, postings.Pair{SizeA: int32(sizeA), SizeB: int32(sizeB), Shared: int32(shared)}, 0)
	v := append(append(append(t.value[:0], b...), ' '), p.Relation.String()...)
	for _, share := range []float64{p.Score, p.ContainmentA(), p.ContainmentB()} {
		v = result.AppendReal(append(v, ' '), share)
	}
	v = fmt.Appendf(v, " %d %d %d %s ", sizeA, sizeB, shared, o.Method)
	t.value = appendEscaped(v, p.Flags.String())
	return t.result(a, t.value)
}
