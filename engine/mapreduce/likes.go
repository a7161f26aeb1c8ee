package mapreduce

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"

	"example.org/ndd/engine/result"
)

// Rows is the kind of the rows of two documents that [Collect] writes, after a header.
type Rows string

// The kinds of rows.
const (
	PairRows Rows = "pairs" // results of the job pairs
	DropRows Rows = "drops" // results of the job dedup: the dropped documents, as dropped.tsv of one machine
)

// columns returns the columns of the rows: with files and rows if the results have them.
func (r Rows) columns(placed bool) []result.Column {
	other, similarity := "near", []result.Column{{Name: "similarity", Kind: result.Text}}
	if r == DropRows {
		other, similarity = "kept", []result.Column{{Name: "jaccard", Kind: result.Real, Optional: true},
			{Name: "contained", Kind: result.Real, Optional: true}}
	}
	all := append([]result.Column{{Name: "id", Kind: result.Text}, {Name: other + "_id", Kind: result.Text},
		{Name: "distance", Kind: result.Integer}}, similarity...)
	for _, prefix := range []string{"", other + "_"} {
		if placed {
			all = append(all, result.Column{Name: prefix + "file", Kind: result.Text, Optional: true},
				result.Column{Name: prefix + "row", Kind: result.Integer, Optional: true})
		}
	}
	return all
}

// likeRows write pairs of documents.
type likeRows struct {
	t      *task
	w      *result.TableWriter // nil before the first row
	placed bool
}

// add writes a row if the record is a pair or a dropped document.
func (l *likeRows) add(r record) error {
	// Parse the record by the kind of rows.
	fields := bytes.Split(r.value, []byte(" "))
	head := fields[0]
	var name, other, similarity []byte
	var distance int
	var err error
	switch {
	case l.t.Rows == PairRows && len(fields) == 3 && len(head) > 3+rowDigits && head[0] == pairMark:
		name, other, similarity, distance = fields[2], head[3+rowDigits:], fields[1], int(digitOf[head[2]])
	case l.t.Rows == DropRows && len(fields) == 4 && len(head) > 1+rowDigits && head[0] == dropped:
		name, other, similarity = head[1+rowDigits:], fields[3], fields[2]
		distance, err = strconv.Atoi(string(fields[1]))
	default:
		return nil
	}
	// Parse the names of both documents.
	a, errA := parseName(name)
	b, errB := parseName(other)
	if err := cmp.Or(err, errA, errB); err != nil {
		return fmt.Errorf("%.80q is no pair of documents: %w", r.value, err)
	}
	// The first row decides whether there are columns of places.
	if l.w == nil {
		l.begin(a.row > 0)
	}
	// Write the row.
	l.w.Text(a.id).Text(b.id).Integer(int64(distance))
	if err := l.writeSimilarity(string(similarity)); err != nil {
		return err
	}
	for _, p := range []place{a, b} {
		switch {
		case !l.placed:
		case p.row == 0:
			l.w.Null().Null()
		default:
			l.w.Text(p.file).Row(int64(p.row))
		}
	}
	return l.w.End()
}

func (l *likeRows) begin(placed bool) {
	l.placed, l.w = placed, result.NewTableWriter(l.t.w, result.TSV, l.t.Rows.columns(placed)...)
}

// writeSimilarity writes the similarity of two documents.
func (l *likeRows) writeSimilarity(text string) error {
	if text == unverified {
		l.t.counters.add(unverifiedPairs, 1)
	}
	switch {
	case l.t.Rows == PairRows:
		l.w.Text(text)
	case text == unverified:
		l.w.Null().Null()
	case text == sameText:
		l.w.Real(1).Real(1)
	default:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%.40q is no similarity", text)
		}
		l.w.Real(v).Null()
	}
	return nil
}

// close writes the header of a table without rows.
func (l *likeRows) close() error {
	if l.w == nil {
		l.begin(false)
	}
	return l.w.Close()
}
