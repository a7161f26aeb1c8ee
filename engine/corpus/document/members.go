package document

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/gzip"
)

// A gzip file is members one after the other, and of a WARC file each record is one. So where one
// is damaged, the next can be found and read on from: what looks like a member's header is one if
// the content behind it begins like a record.
//
//	file     | member | memb#r | member | member |       # damaged
//	content  | record |        | record | record |       its part that was read is dropped
//	                  ^ Skip.At, from where on the content is that of the file from Skip.ResumedAt on
//
// Decoding goes past the damage before it is noticed, so the last bytes of the file are remembered.

const (
	trailBytes  = 1 << 20 // that can be gone back to
	startsMax   = 4096    // of members, which are remembered
	memberBytes = 64 << 10
)

// members decompresses a gzip file. An error stays until resume.
type members struct {
	raw    *trail
	disk   *bufio.Reader // of raw
	z      *gzip.Reader
	inside bool // a member
	starts []memberStart
	out    int64 // bytes of content so far
	err    error
}

// memberStart is where a member begins: in the file, and in the content.
type memberStart struct{ raw, out int64 }

func (m *members) Read(p []byte) (n int, err error) {
	for n == 0 && m.err == nil && len(p) > 0 {
		if !m.inside {
			m.err = m.begin()
			continue
		}
		n, err = m.z.Read(p)
		m.out += int64(n)
		if err == io.EOF {
			m.inside = false
		} else {
			m.err = err
		}
	}
	return n, m.err
}

// begin reads the header of the next member. At the end of the file it is io.EOF.
func (m *members) begin() (err error) {
	if len(m.starts) == startsMax {
		m.starts = append(m.starts[:0], m.starts[startsMax/2:]...)
	}
	m.starts = append(m.starts, memberStart{m.next(), m.out})
	if m.z == nil {
		m.z, err = gzip.NewReader(m.disk)
	} else {
		err = m.z.Reset(m.disk)
	}
	if err == nil {
		m.z.Multistream(false)
		m.inside = true
	}
	return err
}

// brokenFrom returns where the content of the member begins that is damaged, or the end of all
// content.
func (m *members) brokenFrom() int64 {
	if m.err == nil || m.err == io.EOF || len(m.starts) == 0 {
		return math.MaxInt64
	}
	return m.starts[len(m.starts)-1].out
}

// beginsAt reports whether a member's content begins at a byte.
func (m *members) beginsAt(at int64) bool {
	return slices.ContainsFunc(m.starts, func(s memberStart) bool { return s.out == at })
}

// resume finds the first member behind the one that byte at of the content is of, whose own content
// begins with a prefix. The next read continues there. The error is io.EOF if there is none.
func (m *members) resume(at int64, prefix string) (raw int64, err error) {
	from := m.starts[0].raw
	for _, s := range m.starts {
		if s.out <= at {
			from = s.raw
		}
	}
	m.raw.rewind(from + 1)
	m.disk.Reset(m.raw)
	for {
		head, err := m.disk.Peek(min(memberBytes, m.disk.Size()))
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		i := bytes.Index(head, gzipMagic)
		switch {
		case i == 0 && beginsWith(head, prefix):
			m.follow(at)
			return m.next(), nil
		case i >= 0:
			m.disk.Discard(max(i, 1))
		case err != nil:
			return 0, io.EOF
		default:
			m.disk.Discard(len(head) - len(gzipMagic) + 1) // the last ones may begin it
		}
	}
}

// jump resumes at a known member offset.
func (m *members) jump(g Gap) error {
	if g.ResumedAt < m.next() {
		m.raw.rewind(g.ResumedAt)
		m.disk.Reset(m.raw)
	}
	// Discard takes an int, and the gap may be beyond one
	if _, err := io.CopyN(io.Discard, m.disk, g.ResumedAt-m.next()); err != nil {
		return err
	}
	m.follow(g.At)
	return nil
}

// follow has a member begin here, whose content follows byte at.
func (m *members) follow(at int64) {
	m.starts, m.out, m.err, m.inside = m.starts[:0], at, nil, false
}

// next returns where in the file the next byte is.
func (m *members) next() int64 { return m.raw.next() - int64(m.disk.Buffered()) }

// beginsWith reports whether a member begins with some content.
func beginsWith(member []byte, prefix string) bool {
	z, err := gzip.NewReader(bytes.NewReader(member))
	if err != nil {
		return false
	}
	content := make([]byte, len(prefix))
	_, err = io.ReadFull(z, content)
	return err == nil && string(content) == prefix
}

// trail reads from r and remembers the last bytes.
type trail struct {
	r     io.Reader
	last  []byte
	end   int64  // in the file, of last
	again []byte // of last, to be read again
}

func (t *trail) Read(p []byte) (int, error) {
	if len(t.again) > 0 {
		n := copy(p, t.again)
		t.again = t.again[n:]
		return n, nil
	}
	n, err := t.r.Read(p)
	t.end += int64(n)
	if len(t.last)+n > 2*trailBytes {
		t.last = append(t.last[:0], t.last[len(t.last)-trailBytes:]...)
	}
	t.last = append(t.last, p[:n]...)
	return n, err
}

// next returns where in the file the next byte is.
func (t *trail) next() int64 { return t.end - int64(len(t.again)) }

// rewind goes back to a byte of the file, or as near to it as is remembered.
func (t *trail) rewind(to int64) {
	t.again = t.last[max(0, int64(len(t.last))-max(0, t.end-to)):]
}
