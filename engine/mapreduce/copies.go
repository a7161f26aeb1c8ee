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
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/spill"
)

// A CopiesDocs is the job that finds copies with an index split by documents (Zhang et al.): every map compares its
// part of the signatures with all of them, which are a side file.
//
//	in      a part of the results of the job signatures
//	side    all results of that job
//	shuffle two IDs, each with the number of its signatures, and the number of shared ones
//	out     ID	ID, numbers of signatures, shared ones
//
// The shuffle carries whole pairs, so its size grows with their number. If more than MaxEqual documents have equal
// sets, a map pairs only one of them with other documents.
type CopiesDocs struct {
	Queries string         // file with signatures
	Copies  copies.Options // method, not Auto, recipe, threshold and MaxDocuments
	Disk    *disk.Disk     // disk for signatures that do not fit in memory; nil: the system's
}

// join returns the options of package postings.
func join(o *copies.Options) (postings.Options, error) {
	if o.Method == "" || o.Method == copies.Auto {
		return postings.Options{}, fmt.Errorf("method %q: copies are found by one method", o.Method)
	}
	j := o.JoinOptions(o.Method)
	return j, j.Check()
}

func (j CopiesDocs) mapPart(ctx context.Context, t *task) error {
	o, err := join(&j.Copies)
	if err != nil {
		return err
	}
	// The documents of the part come first. The join finds the pairs with one of them.
	x := newSignedDocuments(t, &o, j.Disk)
	defer x.close()
	part := map[uint64]struct{}{} // hashes of the part's records, which the side file repeats
	err = t.records(ctx, func(r record) error {
		part[r.hash()] = struct{}{}
		return x.add(r)
	})
	if err = cmp.Or(err, t.sameRecipe(&j.Copies)); err != nil {
		return err
	}
	o.Known, o.KnownPairs = len(x.ends), true
	err = t.side(ctx, j.Queries, func(r record) error {
		if _, ok := part[r.hash()]; ok {
			return nil
		}
		return x.add(r)
	})
	if err = cmp.Or(err, x.ids.End()); err != nil || o.Known == 0 {
		return err
	}
	pairs, _, err := x.sets.Join(ctx, o)
	if errors.As(err, new(*postings.TooManyPairsError)) {
		err = fmt.Errorf("a part of %d documents has %w: give smaller parts or more memory", o.Known, err)
	}
	if err != nil {
		return err
	}
	return x.send(pairs, uint32(o.Known))
}

// signedDocuments are documents with their signatures.
type signedDocuments struct {
	t      *task
	sets   *postings.Builder
	hashes []uint64 // hash of each set
	ids    spill.Column[byte]
	ends   []uint64 // end of each ID
	set    []uint64
}

// newSignedDocuments returns an empty list. It divides the free memory between the list and a join by o.
func newSignedDocuments(t *task, o *postings.Options, d *disk.Disk) *signedDocuments {
	const share = 4
	free := t.Budget.Free()
	o.Threads, o.MemoryBytes, o.MaxPairs = t.Threads, max(free/share, 1), max(free/share/postings.PairBytes, 1)
	return &signedDocuments{t: t, sets: postings.NewBuilder(postings.Room{Bytes: max(free/share/2, 1), Disk: d}),
		ids: spill.NewColumn[byte](d, "", "IDs", max(free/share/2, 1))}
}

func (x *signedDocuments) close() error { return errors.Join(x.sets.Close(), x.ids.Close()) }

// documentBytes is the memory of a document without its signatures and its ID: hashes and ends while they grow, its
// rank, and its record in a map.
const documentBytes = 64

// add adds the document of a result of the job signatures.
func (x *signedDocuments) add(r record) (err error) {
	if x.set, err = parseSet(x.set[:0], r.value); err != nil {
		return badf("%w", err)
	}
	x.sets.Add(x.set)
	x.hashes = append(x.hashes, hashOfSet(r.value))
	err = x.ids.AppendAll(r.key)
	x.ends = append(x.ends, uint64(x.ids.Len()))
	return cmp.Or(err, x.t.Budget.Check(fmt.Sprintf("the signatures of %d documents", len(x.ends)),
		uint64(documentBytes*len(x.ends))))
}

func (x *signedDocuments) id(doc uint32) []byte {
	from := uint64(0)
	if doc > 0 {
		from = x.ends[doc-1]
	}
	return x.ids.All[from:x.ends[doc]]
}

// send sends the pairs in which the larger set is one of the part, whose documents come first. Of sets of the same
// size, the one with the greater hash counts as larger. So the maps of both documents do not send the same pair.
func (x *signedDocuments) send(found []postings.Pair, part uint32) error {
	var key []byte
	for _, p := range found {
		a, b := x.id(p.A), x.id(p.B)
		order := cmp.Or(cmp.Compare(p.SizeA, p.SizeB), cmp.Compare(x.hashes[p.A], x.hashes[p.B]), bytes.Compare(a, b))
		if bytes.Equal(a, b) || order < 0 && p.B >= part {
			continue
		}
		x.t.counters.add(pairs, 1)
		key = appendNumber(appendPair(key[:0], a, b, int(p.SizeA), int(p.SizeB)), uint64(p.Shared), sizeDigits)
		if err := x.t.send(x.t.partition(record{key: a}.hash()^record{key: b}.hash()), key, nil); err != nil {
			return err
		}
	}
	return nil
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
			return errors.Join(side.add(e), t.read.add(end{Recipe: e.Recipe}))
		}
		read.add(r)
		return each(r)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return side.checkWhole(path, read)
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
		return t.writeCopy(key[:start], int(shared))
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

// writeCopy writes the result for a pair that appendPair wrote.
func (t *task) writeCopy(key []byte, shared int) error {
	a, b, sizeA, sizeB, err := pairOf(key)
	if err != nil {
		return err
	}
	t.counters.add(pairs, 1)
	t.value = fmt.Appendf(append(t.value[:0], b...), " %d %d %d", sizeA, sizeB, shared)
	return t.result(a, t.value)
}
