package format

import (
	"errors"
	"io"
	"iter"

	"example.org/ndd/engine/corpus/input"
)

const (
	heldMax      = 1000    // records that decide which fields are read
	heldBytesMax = 4 << 20 // bytes of these records
)

// A choice uses the first records of a file to decide which fields are read from all its records:
//
//	records ──► the first ones are held ──► decide ──► fill each ──► units
//
// Skips between the held records keep their places.
type choice struct {
	isDecided bool                                         // nothing is held
	count     func(u *Unit) (isKnown bool)                 // counts the fields of a held record; true ends the holding
	decide    func(held []rowUnit) (isFinal bool, _ error) // chooses the fields of held records, and of all others if it is final
	fill      func(u *Unit)                                // gives a record the chosen fields
}

// units yields the units of records.
func (c *choice) units(records iter.Seq2[Unit, error]) iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		var held []rowUnit
		bytes := int64(0)
		for u, err := range records {
			// After the decision, fill and yield each record. Before it, hold records and the skips between them.
			switch {
			case c.isDecided && err == nil:
				c.fill(&u)
				if !yield(u, nil) {
					return
				}
			case c.isDecided, err != nil && len(held) == 0:
				if !yield(u, err) {
					return
				}
			case err == nil || isSkip(err):
				isKnown := err == nil && c.count(&u)
				held, bytes = append(held, rowUnit{u, err}), bytes+u.To-u.From
				if isKnown || len(held) >= heldMax || bytes > heldBytesMax {
					if !c.release(held, yield) {
						return
					}
					held, bytes = nil, 0
				}
			default: // the records end here
				if c.release(held, yield) {
					yield(u, err)
				}
				return
			}
		}
		// The input had too few records for an earlier decision.
		c.release(held, yield)
	}
}

// release decides and yields the held records. It returns false at the end of the reading.
func (c *choice) release(records []rowUnit, yield func(Unit, error) bool) bool {
	if len(records) == 0 {
		return true
	}
	var err error
	if c.isDecided, err = c.decide(records); err != nil {
		yield(Unit{From: records[len(records)-1].From}, err)
		return false
	}
	for _, u := range records {
		if u.err == nil {
			c.fill(&u.Unit)
		}
		if !yield(u.Unit, u.err) {
			return false
		}
	}
	return true
}

// isSkip reports whether records may follow an error.
func isSkip(err error) bool {
	_, ok := errors.AsType[*input.Skip](err)
	return ok
}

// each yields the results of next until next returns io.EOF or an error that is not a skip.
func each(next func() (Unit, error)) iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		for {
			u, err := next()
			if errors.Is(err, io.EOF) || !yield(u, err) || err != nil && !isSkip(err) {
				return
			}
		}
	}
}
