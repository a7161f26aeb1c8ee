package index

import (
	"bufio"
	"cmp"
	"context"
	"io"

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live"
	"ndd/engine/result"
)

// lines writes documents as text, a line each. Its functions' errors are the stream's.
type lines interface {
	// document writes a document's fingerprints and its ID.
	document(prints []simhash.Fingerprint, id string) error
	// print writes a fingerprint of which no document is known.
	print(f simhash.Fingerprint) error
	// close writes what is left.
	close() error
}

// plainLines are those of ndd fingerprint, which ndd build reads.
type plainLines struct{ *bufio.Writer }

func (l plainLines) document(prints []simhash.Fingerprint, id string) error {
	for i, f := range prints {
		if i > 0 {
			l.WriteByte(',')
		}
		l.WriteString(f.String())
	}
	l.WriteByte('\t')
	l.WriteString(result.Escape(id))
	return l.WriteByte('\n')
}

func (l plainLines) print(f simhash.Fingerprint) error {
	l.WriteString(f.String())
	return l.WriteByte('\n')
}

func (l plainLines) close() error { return l.Flush() }

// objectLines are objects in JSON.
type objectLines struct {
	to *bufio.Writer
	*result.TableWriter
}

// newObjectLines returns those with so many fingerprints each, and with IDs or without.
func newObjectLines(to *bufio.Writer, each int, ids bool) objectLines {
	columns := cli.ColumnsOf("fingerprint second id")
	if !ids {
		columns = columns[:1]
	} else if each == 1 {
		columns = append(columns[:1], columns[2])
	}
	return objectLines{to, result.NewTableWriter(to, result.JSON, columns...)}
}

func (l objectLines) document(prints []simhash.Fingerprint, id string) error {
	for _, f := range prints {
		l.Text(f.String())
	}
	return l.Text(id).End()
}

func (l objectLines) print(f simhash.Fingerprint) error { return l.Text(f.String()).End() }

func (l objectLines) close() error {
	if err := l.Close(); err != nil {
		return err
	}
	return l.to.Flush()
}

// toLines writes lines in a format to a file, which appears when it is complete, or to standard output.
func (s *source) toLines(out, format string, ids bool, fill func(lines) error) error {
	to, err := s.g.NewOutput(out)
	if err != nil {
		return err
	}
	defer to.Abort()
	l := s.linesTo(to, format, ids)
	if err := fill(l); err != nil {
		return err
	}
	if err := l.close(); err != nil {
		return err
	}
	return to.Commit()
}

// linesTo returns lines in a format.
func (s *source) linesTo(to io.Writer, format string, ids bool) lines {
	buffer := bufio.NewWriterSize(to, 1<<16)
	if format == result.TSV.String() {
		return plainLines{buffer}
	}
	return newObjectLines(buffer, s.x.Recipe().PrintsEach(), ids)
}

// toTable writes the documents as lines.
func (s *source) toTable(ctx context.Context, out, format string) error {
	each := s.x.Recipe().PrintsEach()
	return s.toLines(out, format, true, func(l lines) error {
		return s.each(ctx, func(d live.Doc) error {
			prints := [2]simhash.Fingerprint{d.Fingerprint, d.Second}
			return l.document(prints[:each], d.ID)
		})
	})
}

// printsAlone writes the distinct fingerprints of an index that keeps no documents.
func (s *source) printsAlone(ctx context.Context, out, format string) error {
	return s.toLines(out, format, false, func(l lines) (failed error) {
		err := s.view.Walk(ctx, func(prints []uint64) bool {
			for _, f := range prints {
				if failed = l.print(simhash.Fingerprint(f)); failed != nil {
					return false
				}
			}
			s.bare += uint64(len(prints))
			s.bar.Set(int64(s.bare))
			return true
		})
		return cmp.Or(failed, err)
	})
}
