package dedup

import (
	"bufio"
	"iter"

	"ndd/engine/near/dedup"
	"ndd/engine/result"
)

// tooShort is the reason for which a document is kept that was not compared.
const tooShort = "too short for a fingerprint"

// eachKept calls row with every document that is kept and was compared, and short with those that were too short for that, in
// order of the inputs.
func (t *clusterTables) eachKept(row func(row uint32) error, short func(dedup.Short) error) error {
	list := t.short()
	defer list.stop()
	for r := range t.r.Kept() {
		if list.more {
			if err := list.before(r, short); err != nil {
				return err
			}
		}
		if err := row(r); err != nil {
			return err
		}
	}
	return list.before(uint32(t.c.Len()), short)
}

func (t *clusterTables) kept(w *result.TableWriter) error {
	return t.eachKept(func(row uint32) error {
		return place(w.Text(t.c.ID(row)).Null(), t.c.Place(row)).End()
	}, func(d dedup.Short) error {
		return place(w.Text(d.ID).Text(tooShort), d.Place).End()
	})
}

// keptList writes an ID a line, and behind a tab the reason, where there is one.
func (t *clusterTables) keptList(w *bufio.Writer) error {
	var id []byte
	return t.eachKept(func(row uint32) error {
		id = t.c.AppendID(id[:0], row)
		_, err := w.Write(append(result.AppendEscaped(w.AvailableBuffer(), id), '\n'))
		return err
	}, func(d dedup.Short) error {
		_, err := w.WriteString(result.Escape(d.ID) + "\t" + tooShort + "\n")
		return err
	})
}

// shortDocuments are the documents without a fingerprint on their way into the list of what is kept.
type shortDocuments struct {
	next  func() (dedup.Short, bool)
	stop  func()
	ahead dedup.Short
	more  bool
}

func (t *clusterTables) short() *shortDocuments {
	s := &shortDocuments{}
	s.next, s.stop = iter.Pull(t.c.Short())
	s.ahead, s.more = s.next()
	return s
}

// before calls yield with those that come before a row.
func (s *shortDocuments) before(row uint32, yield func(dedup.Short) error) error {
	for s.more && s.ahead.Before <= row {
		if err := yield(s.ahead); err != nil {
			return err
		}
		s.ahead, s.more = s.next()
	}
	return nil
}
