package mapreduce

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"strconv"

	"ndd/engine/corpus/simhash"
)

// An Assign is the job that assigns documents to clusters.
//
//	in      results of the job fingerprint and of the last round of the job cluster
//	shuffle fingerprint (11 digits), then "0" and its cluster (11) or "1" and ID, bytes of text
//	out     cluster: its smallest fingerprint (16 hexadecimal digits)	ID, fingerprint, bytes of text
//
// A document that is alone has no line. Records with the same ID, fingerprint and length are one
// document.
type Assign struct{}

const (
	clusterMark  = '0'
	documentMark = '1'
)

func (j Assign) mapPart(ctx context.Context, t *task) error {
	var key []byte
	return t.records(ctx, func(r record) error {
		if string(r.key) == unmarkedKey {
			t.counters.add(unmarked, 1)
			return nil
		}
		f, err := simhash.Parse(string(r.key))
		if err != nil {
			return badf("%w", err)
		}
		key = appendNumber(key[:0], uint64(f), printDigits)
		id, length, isDocument := bytes.Cut(r.value, []byte(" "))
		if isDocument {
			if _, err := strconv.ParseUint(string(length), 10, 64); err != nil || len(id) == 0 {
				return badf("a document has an ID and the bytes of its text, not %.80q", r.value)
			}
			key = append(append(key, documentMark), r.value...)
			return t.send(t.partition(uint64(f)), key, nil)
		}
		root, err := simhash.Parse(string(r.value))
		if err != nil {
			return badf("neither a document nor a cluster: %.80q", r.value)
		}
		key = appendNumber(append(key, clusterMark), uint64(root), printDigits)
		if err := t.send(t.partition(uint64(f)), key, nil); err != nil {
			return err
		}
		// The documents with the cluster's own fingerprint have no edge.
		key = appendNumber(key[:0], uint64(root), printDigits)
		key = appendNumber(append(key, clusterMark), uint64(root), printDigits)
		return t.send(t.partition(uint64(root)), key, nil)
	})
}

func (j Assign) reduce(ctx context.Context, t *task) error {
	a := assigning{t: t}
	return t.distinct(ctx, func(key []byte) error {
		k := readKey(key)
		f := k.number(printDigits)
		if err := k.err("document or cluster", 2); err != nil {
			return err
		}
		return a.add(f, k.rest[0], k.rest[1:])
	})
}

// An assigning is a fingerprint whose clusters, and then documents, come in order.
type assigning struct {
	t         *task
	some      bool
	print     uint64
	clustered bool // root is known, or there is a second document
	root      uint64
	first     []byte // a document that may be alone
	k, v      []byte
}

// add adds the next cluster or document of a fingerprint.
func (a *assigning) add(print uint64, mark byte, rest []byte) error {
	if !a.some || print != a.print {
		a.some, a.print, a.clustered, a.root, a.first = true, print, false, print, a.first[:0]
	}
	if mark == clusterMark {
		root, ok := number(rest)
		if !ok {
			return fmt.Errorf("%.40q is no cluster", rest)
		}
		if a.clustered && root != a.root {
			return fmt.Errorf("fingerprint %016x is in cluster %016x and in cluster %016x: more rounds of the job cluster "+
				"are needed", print, a.root, root)
		}
		a.clustered, a.root = true, root
		return nil
	}
	if a.clustered {
		return a.write(rest)
	}
	if len(a.first) == 0 {
		a.first = append(a.first, rest...)
		return nil
	}
	a.clustered = true
	if err := a.write(a.first); err != nil {
		return err
	}
	return a.write(rest)
}

func (a *assigning) write(document []byte) error {
	id, length, ok := bytes.Cut(document, []byte(" "))
	if !ok {
		return fmt.Errorf("%.80q is no document", document)
	}
	a.k = fmt.Appendf(a.k[:0], "%016x", a.root)
	a.v = fmt.Appendf(a.v[:0], "%s %016x %s", id, a.print, length)
	return a.t.result(a.k, a.v)
}

// A Keep selects the document of a cluster that is kept.
type Keep string

// The policies. Of equal ones the first ID is kept: a job has no order of documents but that of
// their IDs.
const (
	FirstID  Keep = "first"
	Longest  Keep = "longest"
	Shortest Keep = "shortest"
)

// A Dedup is the job that lists the documents to drop, and the kept document of each.
//
//	in      results of the job assign
//	shuffle cluster (11 digits), rank of the policy (6), ID, space, fingerprint (11)
//	out     ID	ID of the kept document, distance of their fingerprints
//
// Documents of a cluster come in order of preference: the first is kept, so a reduce holds one.
type Dedup struct{ Keep Keep }

// rankMax is the largest length that ranks distinguish.
const rankMax = 1<<(6*rowDigits) - 1

// rank returns the number that sorts before the ID of a text of length bytes. Lower ones are
// preferred.
func (k Keep) rank(length uint64) uint64 {
	switch k {
	case Longest:
		return rankMax - min(length, rankMax)
	case Shortest:
		return min(length, rankMax)
	}
	return 0
}

func (j Dedup) mapPart(ctx context.Context, t *task) error {
	var key []byte
	return t.records(ctx, func(r record) error {
		root, err := simhash.Parse(string(r.key))
		if err != nil {
			return badf("%w", err)
		}
		fields := bytes.Split(r.value, []byte(" "))
		if len(fields) != 3 || len(fields[0]) == 0 {
			return badf("a document has an ID, a fingerprint and the bytes of its text, not %.80q", r.value)
		}
		f, err := simhash.Parse(string(fields[1]))
		if err != nil {
			return badf("%w", err)
		}
		length, err := strconv.ParseUint(string(fields[2]), 10, 64)
		if err != nil {
			return badf("%w", err)
		}
		key = appendNumber(appendNumber(key[:0], uint64(root), printDigits), j.Keep.rank(length), rowDigits)
		key = appendNumber(append(append(key, fields[0]...), ' '), uint64(f), printDigits)
		return t.send(t.partition(uint64(root)), key, nil)
	})
}

func (j Dedup) reduce(ctx context.Context, t *task) error {
	var root, kept, value []byte
	var keptPrint uint64
	return t.distinct(ctx, func(key []byte) error {
		const before, behind = printDigits + rowDigits, 1 + printDigits
		if len(key) <= before+behind {
			return fmt.Errorf("%.40q is no document of a cluster", key)
		}
		f, ok := number(key[len(key)-printDigits:])
		if !ok {
			return fmt.Errorf("%.40q has no fingerprint", key)
		}
		id := key[before : len(key)-behind]
		if string(root) != string(key[:printDigits]) {
			root, kept, keptPrint = append(root[:0], key[:printDigits]...), append(kept[:0], id...), f
			t.counters.add(groups, 1)
			return nil
		}
		value = fmt.Appendf(value[:0], "%s %d", kept, bits.OnesCount64(f^keptPrint))
		return t.result(id, value)
	})
}
