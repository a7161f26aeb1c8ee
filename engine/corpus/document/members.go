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
	ahead
	content []byte        // of the piece that is read
	disk    *bufio.Reader // of raw, for members that are read in place
	z       *gzip.Reader
	inside  bool // such a member
	starts  []memberStart
	out     int64 // bytes of content so far
	err     error
}

// memberStart is where a member begins: in the file, and in the content.
type memberStart struct{ raw, out int64 }

func (m *members) Read(p []byte) (n int, err error) {
	for n == 0 && m.err == nil && len(p) > 0 {
		if len(m.content) > 0 {
			n = copy(p, m.content)
			m.content = m.content[n:]
			m.out += int64(n)
			break
		}
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

// begin begins with the next piece, or reads the header of the next member. At the end of the file it
// is io.EOF.
func (m *members) begin() (err error) {
	if len(m.starts) >= startsMax-pieceMembers {
		m.starts = append(m.starts[:0], m.starts[len(m.starts)-startsMax/2:]...)
	}
	if m.d != nil && m.disk.Buffered() > 0 {
		m.raw.rewind(m.offset())
		m.disk.Reset(m.raw)
	}
	if p := m.next(); p != nil {
		for _, s := range p.starts {
			m.starts = append(m.starts, memberStart{p.at + s.raw, m.out + s.out})
		}
		m.content = p.content
		return nil
	}
	m.starts = append(m.starts, memberStart{m.offset(), m.out})
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
	m.drop()
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
			return m.offset(), nil
		case i >= 0:
			m.disk.Discard(max(i, 1))
		case err != nil:
			return 0, io.EOF
		default:
			m.disk.Discard(len(head) - len(gzipMagic) + 1) // the last ones may begin it
		}
	}
}

// follow has a member begin here, whose content follows byte at.
func (m *members) follow(at int64) {
	m.starts, m.content, m.out, m.err, m.inside = m.starts[:0], nil, at, nil, false
}

// offset returns where in the file the next byte is that is read in place.
func (m *members) offset() int64 { return m.raw.at - int64(m.disk.Buffered()) }

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

// trail reads from r. It remembers the last bytes, and can look ahead.
type trail struct {
	r     io.Reader
	chunk int    // bytes that are read at a time
	last  []byte // of what has been read
	end   int64  // in the file, of last
	at    int64  // of the next byte
	keep  int64  // the bytes from here on are remembered, and trailBytes before
	err   error  // of r
}

// newTrail returns a trail of a file of which the first bytes are in a buffer.
func newTrail(first *bufio.Reader, rest io.Reader, chunk int) *trail {
	b, _ := first.Peek(first.Buffered())
	return &trail{r: rest, chunk: chunk, last: bytes.Clone(b), end: int64(len(b))}
}

func (t *trail) Read(p []byte) (int, error) {
	if t.at == t.end {
		t.keep = t.at
		t.fetch()
	}
	n := copy(p, t.ahead())
	t.at += int64(n)
	if n == 0 && len(p) > 0 {
		return 0, t.err
	}
	return n, nil
}

// ahead returns the bytes that have been read already.
func (t *trail) ahead() []byte { return t.last[len(t.last)-int(t.end-t.at):] }

// peek returns the next bytes, up to n of them, and whether there are no more.
func (t *trail) peek(n int) (b []byte, ended bool) {
	for t.end-t.at < int64(n) && t.err == nil {
		t.fetch()
	}
	b = t.ahead()
	return b[:min(n, len(b))], len(b) <= n && t.err == io.EOF
}

// fetch reads some bytes, or an error.
func (t *trail) fetch() {
	if spare := len(t.last) - int(t.end-min(t.keep, t.at)) - trailBytes; spare > trailBytes {
		t.last = append(t.last[:0], t.last[spare:]...)
	}
	t.last = slices.Grow(t.last, t.chunk)
	n := 0
	for try := 0; n == 0 && t.err == nil && try < 100; try++ {
		n, t.err = t.r.Read(t.last[len(t.last) : len(t.last)+t.chunk])
	}
	if n == 0 && t.err == nil {
		t.err = io.ErrNoProgress
	}
	t.last = t.last[:len(t.last)+n]
	t.end += int64(n)
}

// rewind goes back to a byte of the file, or as near to it as is remembered.
func (t *trail) rewind(to int64) { t.at = max(to, t.end-int64(len(t.last))) }
