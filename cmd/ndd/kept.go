package main

import (
	"bufio"
	"iter"

	"ndd/engine/near/dedup"
	"ndd/engine/result"
)

// tooShort is the reason for which a document is kept that was not compared.
const tooShort = "too short for a fingerprint"

// eachKept calls yield with every document that is kept, in order of the inputs, and why if it was not compared.
func (t *clusterTables) eachKept(yield func(id, reason string, at dedup.Place) error) error {
	short := t.short()
	defer short.stop()
	for row := range t.r.Kept() {
		if err := short.before(row, yield); err != nil {
			return err
		}
		if err := yield(t.c.ID(row), "", t.c.Place(row)); err != nil {
			return err
		}
	}
	return short.before(uint32(t.c.Len()), yield)
}

func (t *clusterTables) kept(w *result.TableWriter) error {
	return t.eachKept(func(id, reason string, at dedup.Place) error {
		if w.Text(id); reason == "" {
			w.Null()
		} else {
			w.Text(reason)
		}
		return place(w, at).End()
	})
}

// keptList writes an ID a line, and behind a tab the reason, where there is one.
func (t *clusterTables) keptList(w *bufio.Writer) error {
	return t.eachKept(func(id, reason string, _ dedup.Place) error {
		w.WriteString(result.Escape(id))
		if reason != "" {
			w.WriteString("\t" + reason)
		}
		return w.WriteByte('\n')
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

// before yields those that come before a row.
func (s *shortDocuments) before(row uint32, yield func(id, reason string, at dedup.Place) error) error {
	for s.more && s.ahead.Before <= row {
		if err := yield(s.ahead.ID, tooShort, s.ahead.Place); err != nil {
			return err
		}
		s.ahead, s.more = s.next()
	}
	return nil
}
