package rewrite

import (
	"context"
	"errors"
	"math"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
)

// A scanner reads the units of a file and collects the edits that the judge decides.
type scanner struct {
	ctx       context.Context
	options   format.Options
	extractor *format.Extractor
	file      input.File
	fields    *Fields
	head      format.Head // head of the file, if there are fields
	judge     Judge
	report    *Report

	counted bool // an earlier reading counted the units
	unread  int  // units that the earlier reading counted and this one has not read yet
	uncut   int  // documents that stay whole
}

// scan collects the edits of a file. If c is not nil, it also copies the file up to its last unit.
func (s *scanner) scan(content *format.Content, c *contentCopy) (e edits, err error) {
	e.end = math.MaxInt64
	if s.head.End > 0 {
		e.cuts = append(e.cuts, cut{from: s.head.End, note: noteNames})
	}
	for u, err := range content.Units {
		if skip, skipped := errors.AsType[*input.Skip](err); skipped {
			err = s.skip(&e, skip, c)
		} else if err == nil {
			err = s.unit(&e, u, c)
		}
		if err != nil {
			return e, err
		}
	}
	return e, s.end()
}

// end returns an error if documents of the earlier reading are missing.
func (s *scanner) end() error {
	if s.counted && s.unread != 0 || s.judge.Missing != nil && s.judge.Missing() > 0 {
		return ingest.Changed(s.file.Path)
	}
	return nil
}

// skip handles a part of the file that has no verdict. The part stays, as far as it can be read.
func (s *scanner) skip(e *edits, skip *input.Skip, c *contentCopy) error {
	e.lost = e.lost || skip.Reason.LosesData()
	if s.fields != nil && (skip.Reason == input.Broken || skip.Reason == input.TooLarge) && skip.ResumedAt == 0 {
		s.report.Unnoted++
	}
	switch {
	case skip.ResumedAt > 0: // the record that begins there is a unit of its own
		e.damage = append(e.damage, skip.Error())
		return nil
	case skip.End > skip.Offset && c != nil && s.fields == nil: // the skip is in JSON or WARC
		e.starts = append(e.starts, skip.Offset)
		return c.value(e, skip.Offset, skip.End, true)
	case skip.Reason == input.Unreadable, skip.Reason == input.DamagedRows:
		e.end = skip.Offset
		e.damage = append(e.damage, skip.Error())
	}
	e.starts = append(e.starts, skip.Offset)
	return nil
}

// unit adds the verdict about a unit to the edits.
func (s *scanner) unit(e *edits, u format.Unit, c *contentCopy) error {
	// Ask the judge. With fields all documents stay, and get a note instead.
	e.units++
	v, err := s.verdict(u)
	if err == nil && s.fields != nil {
		v.Drop, v.Cuts = false, nil
		err = s.note(e, u, v.Note)
	}
	if err != nil {
		return err
	}
	// Count what stays. The copy may begin a new member at a kept unit.
	if v.Drop {
		e.rows = append(e.rows, int64(u.Line))
	} else {
		e.kept++
		if c != nil {
			e.starts = append(e.starts, u.From)
		}
	}
	// Turn the parts of the text into ranges of the file. A document without such ranges stays whole.
	if len(v.Cuts) > 0 && !v.Drop {
		places, ok := s.extractor.Places(u, v.Cuts)
		if !ok {
			s.uncut++
		}
		for _, p := range places {
			e.cuts = append(e.cuts, cut{from: p.From, to: p.To})
		}
	}
	// If the file is copied in the same pass, copy up to the end of the unit.
	switch {
	case c == nil:
		return nil
	case c.list && s.fields == nil:
		return c.value(e, u.From, u.To, !v.Drop)
	case v.Drop:
		e.cuts = append(e.cuts, cut{from: u.From, to: u.To})
	}
	return c.follow(e, u.To)
}

// verdict returns the verdict about the next unit.
func (s *scanner) verdict(u format.Unit) (Verdict, error) {
	if s.unread--; s.counted && s.unread < 0 { // the earlier reading counted fewer units in this file
		return Verdict{}, ingest.Changed(s.file.Path)
	}
	v, err := s.judge.Unit(s.extractor, u)
	if s.ctx.Err() != nil { // then the extractor returned no text
		err = s.ctx.Err()
	}
	return v, err
}

// note adds the place for the fields of a unit to the edits.
func (s *scanner) note(e *edits, u format.Unit, note int) error {
	switch s.head.Format {
	case format.Parquet:
		e.cuts = append(e.cuts, cut{from: int64(u.Line), note: note})
	case format.CSV:
		e.cuts = append(e.cuts, cut{from: u.To, note: note})
	default:
		end, name, ok := u.ObjectEnd(s.fields.names())
		if name != "" {
			return errTaken(input.Place(u.Source, u.Line), name)
		}
		if !ok {
			s.report.Unnoted++
			return nil
		}
		e.cuts = append(e.cuts, cut{from: end, note: note})
	}
	return nil
}

// isJudgeable reports whether a document of the file can be judged, or whether the file has no data to lose.
func (s *scanner) isJudgeable() bool {
	options, lost := s.options, false
	options.Meter, options.Decoders = nil, nil
	for _, err := range format.Units(s.ctx, s.file, options, nil) {
		if skip, skipped := errors.AsType[*input.Skip](err); !skipped {
			return true // copying returns an error again
		} else if skip.Reason.LosesData() {
			lost = true
		}
	}
	return !lost
}
