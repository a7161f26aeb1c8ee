package dedup

import (
	"errors"
	"math"

	"ndd/engine/corpus/document"
)

// scanned is what a scan found in a file.
type scanned struct {
	units, kept int
	lost        bool     // something could not be read
	rows        []int64  // of a Parquet file, from 1, to leave out
	whole       int64    // where it is damaged and does not go on
	damage      []string // what of it cannot be read, in words

	// Of the part that is not copied yet.
	cuts   []cut   // to leave out
	starts []int64 // of records
}

// isLost reports whether nothing of the file could be judged.
func (x *scanned) isLost() bool { return x.units == 0 && x.lost }

// scan finds out what of a file is to be left out, and copies it meanwhile, up to its last unit, unless
// c is nil.
func (k *copier) scan(content *document.Content, c *copying) (x scanned, err error) {
	x.whole = math.MaxInt64
	if k.head.End > 0 {
		x.cuts = append(x.cuts, cut{from: k.head.End, note: noteNames})
	}
	for u, err := range content.Units {
		if skip, skipped := errors.AsType[*document.Skip](err); skipped {
			err = k.skipped(&x, skip, c)
		} else if err == nil {
			err = k.unit(&x, u, c)
		}
		if err != nil {
			return x, err
		}
	}
	return x, k.end()
}

// skipped notes what cannot be judged: it stays, as far as it can be read.
func (k *copier) skipped(x *scanned, skip *document.Skip, c *copying) error {
	x.lost = x.lost || skip.Reason.LosesData()
	if k.fields != nil && (skip.Reason == document.Broken || skip.Reason == document.TooLarge) && skip.ResumedAt == 0 {
		k.report.Unnoted++
	}
	switch {
	case skip.ResumedAt > 0: // a record begins there that comes up itself
		x.damage = append(x.damage, skip.Error())
		return nil
	case skip.To > skip.At && c != nil && k.fields == nil: // of JSON or WARC
		x.starts = append(x.starts, skip.At)
		return c.value(x, skip.At, skip.To, true)
	case skip.Reason == document.Unreadable, skip.Reason == document.DamagedRows:
		x.whole = skip.At
		x.damage = append(x.damage, skip.Error())
	}
	x.starts = append(x.starts, skip.At)
	return nil
}

func (k *copier) unit(x *scanned, u document.Unit, c *copying) error {
	x.units++
	v, err := k.judge(u)
	if err == nil && k.fields != nil {
		v.Drop, v.Cuts = false, nil
		err = k.note(x, u, v.Note)
	}
	if err != nil {
		return err
	}
	if v.Drop {
		x.rows = append(x.rows, int64(u.Line))
	} else {
		x.kept++
		x.starts = append(x.starts, u.From)
	}
	if len(v.Cuts) > 0 && !v.Drop {
		places, ok := k.extractor.Places(u, v.Cuts)
		if !ok {
			k.made.Uncut++
		}
		for _, p := range places {
			x.cuts = append(x.cuts, cut{from: p.From, to: p.To})
		}
	}
	switch {
	case c == nil:
		return nil
	case c.list && k.fields == nil:
		return c.value(x, u.From, u.To, !v.Drop)
	case v.Drop:
		x.cuts = append(x.cuts, cut{from: u.From, to: u.To})
	}
	return c.follow(x, u.To)
}
