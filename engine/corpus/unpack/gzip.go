package unpack

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/klauspost/compress/gzip"
)

// A gzip file is a sequence of members, and in a WARC file each record is a member. So after a damaged
// member, reading can resume at the next one: bytes that look like a member's header are one if
// their content begins like a record.
//
//	file     | member | memb#r | member | member |       # damaged
//	content  | record |        | record | record |       its part that was read is dropped
//	                  ^ the content continues here with the member that Resume has found
//
// Decoding passes the damage before it notices it, so the last bytes of the file are remembered.

const (
	startsMax        = 4096      // starts of members that are remembered
	memberBytes      = 64 << 10  // bytes of a member that are tried for a prefix
	memberMin        = 20        // bytes of the shortest member
	memberContentMin = 128 << 10 // content that a piece may have even if it is shorter in the file
	gzipRatio        = 16        // maximum bytes of content for each of the file
)

// members decompresses a gzip file. An error stays until resume.
type members struct {
	pieceReader
	memberStarts
	content  []byte        // the rest of the current piece
	disk     *bufio.Reader // a buffer of raw, for members that are read in place
	z        *gzip.Reader
	isInside bool // a member is read in place
	err      error
}

func (m *members) Read(p []byte) (n int, err error) {
	for n == 0 && m.err == nil && len(p) > 0 {
		if len(m.content) > 0 {
			n, m.content = m.memberStarts.read(p, m.content)
			break
		}
		if !m.isInside {
			m.err = m.beginMember()
			continue
		}
		n, err = m.z.Read(p)
		m.out += int64(n)
		if err == io.EOF {
			m.isInside = false
		} else {
			m.err = err
		}
	}
	return n, m.err
}

// newMembers returns the members of a file. The buffer disk is of raw.
func newMembers(d *Decoders, raw *trail, disk *bufio.Reader) *members {
	return &members{disk: disk, pieceReader: pieceReader{d: d, raw: raw}}
}

// beginMember begins with the next piece, or reads the header of the next member. The error is io.EOF at the end of the
// file.
func (m *members) beginMember() (err error) {
	if m.d != nil && m.disk.Buffered() > 0 {
		m.raw.rewind(m.offset())
		m.disk.Reset(m.raw)
	}
	if p := m.next(); p != nil {
		m.begin(p.offset, p.starts...)
		m.content = p.content
		return nil
	}
	m.begin(m.offset())
	if m.z == nil {
		m.z, err = gzip.NewReader(m.disk)
	} else {
		err = m.z.Reset(m.disk)
	}
	if err == nil {
		m.z.Multistream(false)
		m.isInside = true
	}
	return err
}

// brokenFrom returns the offset of the content of the damaged member, or a number beyond all content if no member is
// damaged.
func (m *members) brokenFrom() int64 {
	if m.err == nil || m.err == io.EOF || len(m.starts) == 0 {
		return math.MaxInt64
	}
	return m.starts[len(m.starts)-1].out
}

// resume finds a member whose content begins with a prefix. It searches after the member that has the given byte of the
// content. The next read continues at the member that it finds. The error is io.EOF if there is none.
func (m *members) resume(offset int64, prefix string) (raw int64, err error) {
	from := m.starts[0].raw
	for _, s := range m.starts {
		if s.out <= offset {
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
			m.follow(offset)
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

// follow begins a member at the current place. Its content has the given offset.
func (m *members) follow(offset int64) {
	m.starts, m.content, m.out, m.err, m.isInside = m.starts[:0], nil, offset, nil, false
}

// offset returns the offset in the file of the next byte that is read in place.
func (m *members) offset() int64 { return m.raw.offset - int64(m.disk.Buffered()) }

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

// findMembers returns the length of the gzip members at the beginning of b: as many as fit in maxBytes, or one. It
// returns 0 if b does not have a whole member.
func findMembers(b []byte, maxBytes int, ended bool) (n int) {
	for offset := memberMin; offset < len(b); {
		i := bytes.Index(b[offset:], gzipMagic)
		if i < 0 {
			break
		}
		if offset += i; offset > maxBytes && n > 0 {
			break
		}
		if isMember(b[offset:]) {
			n = offset
		}
		if n >= maxBytes {
			break
		}
		offset++
	}
	if ended && (len(b) <= maxBytes || n == 0) {
		n = len(b)
	}
	return n
}

// isMember reports whether b begins like a gzip member, with flags, hints and a system that compressors write.
func isMember(b []byte) bool {
	if len(b) < 10 {
		return false
	}
	flags, hint, system := b[3], b[8], b[9]
	return (flags == 0 || flags == 4 || flags == 8) && (hint == 0 || hint == 2 || hint == 4) &&
		(system < 14 || system == 255)
}

// decode decompresses the members of a piece.
func (p *piece) decode() {
	in := bytes.NewReader(p.raw)
	for in.Len() > 0 {
		p.starts = append(p.starts, memberStart{int64(len(p.raw) - in.Len()), int64(len(p.content))})
		if err := p.gzip.Reset(in); err != nil || len(p.starts) > pieceMembers {
			return
		}
		p.gzip.Multistream(false)
		for {
			if len(p.content) == cap(p.content) {
				p.content = append(p.content, 0)[:len(p.content)]
			}
			n, err := p.gzip.Read(p.content[len(p.content):cap(p.content)])
			p.content = p.content[:len(p.content)+n]
			if err == io.EOF {
				break
			}
			if err != nil || len(p.content) > max(len(p.raw)*gzipRatio, memberContentMin) {
				return
			}
		}
	}
	p.sound = true
}
