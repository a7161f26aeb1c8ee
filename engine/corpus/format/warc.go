package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"

	"ndd/engine/corpus/input"
	"ndd/engine/corpus/unpack"
)

// A WARC file (ISO 28500) is records one after the other, as a rule each compressed by itself,
// which gzip and zstd readers see through:
//
//	WARC/1.0 CRLF                             version
//	WARC-Type: response CRLF ...              headers
//	Content-Length: 1234 CRLF
//	CRLF
//	1234 bytes                                block: for a response, HTTP's headers and body
//	CRLF CRLF
//
// A unit is the block of a response, resource or conversion record (as in WET files); its id is the
// target's URI, and a value is what a header says, such as WARC-Date. All other records, which hold
// no page, are skips that lose no data. Where a record should begin and does not, the length before it
// may be wrong: reading resumes at the next record (resume.go). The Line of a unit is the number of its
// record, from 1.

const (
	warcHeaderBytes = 1 << 20 // most of a record's version and headers
	warcQuote       = 40      // of what was found instead of a record
	warcPrefix      = "WARC/" // of a record
)

// warc is a stream of records.
type warc struct {
	*stream
	handed int64  // bytes up to the end of the last record that was handed on
	wary   bool   // a length was wrong: a block ends where a record seems to begin in it
	other  []byte // a block without a page
}

func (s *stream) warc() *warc {
	return &warc{stream: s}
}

// warcRecords yields one unit a record that holds a page.
func (s *stream) warcRecords() error {
	w := s.warc()
	return s.each(func() error {
		err := w.record()
		if errors.Is(err, unpack.ErrDamaged) || errors.As(err, new(foreign)) {
			err = w.resume(err)
		}
		return err
	})
}

// foreign is an error where a file begins: it may be no WARC at all.
type foreign struct{ error }

func (f foreign) Unwrap() error { return f.error }

// record yields the unit of the next record or returns a skip, or io.EOF when there is no
// record any more. All other errors say where.
func (s *warc) record() error {
	s.line++
	s.good = s.r.Offset()
	err := s.blankLines()
	if errors.Is(err, io.EOF) {
		return err
	}
	from := s.r.Offset()
	if err != nil {
		return brokenRecord(from, err)
	}
	s.good = from
	u, reason, err := s.readRecord(from)
	if err != nil {
		return brokenRecord(from, err)
	}
	if reason != nil {
		reason.Line, reason.At = s.line, from
		return reason
	}
	u.Line, u.From, u.To = s.line, from, s.r.Offset()
	s.handed = s.r.Offset()
	return s.emit(u)
}

// brokenRecord returns the error of a record that begins at from and cannot be read.
func brokenRecord(from int64, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == io.ErrUnexpectedEOF { // a compression's own error says as much
		err = errors.New("the file ends within it: is it cut short?")
	}
	if err = fmt.Errorf("record at byte %d: %w", from, err); errors.As(err, new(foreign)) {
		return err
	}
	return unpack.Damage(err)
}

// readRecord reads the record that begins at from: its unit, or the reason why it is none.
func (s *warc) readRecord(from int64) (u Unit, reason *input.Skip, err error) {
	version, err := s.headerLine(from)
	if err != nil {
		return u, nil, err
	}
	if !bytes.HasPrefix(version, []byte(warcPrefix)) {
		err = fmt.Errorf("there is none, but %q", version[:min(len(version), warcQuote)])
		if from == 0 {
			err = foreign{err}
		}
		return u, nil, err
	}
	headers, err := s.headers(from)
	if err != nil {
		return u, nil, err
	}
	length, err := strconv.ParseInt(headers.Get("Content-Length"), 10, 64)
	if err != nil || length < 0 {
		return u, nil, fmt.Errorf("Content-Length %.40q is no number of bytes", headers.Get("Content-Length"))
	}
	if u, reason = warcUnit(headers, &s.opts); reason == nil && length > s.opts.MaxDocumentBytes {
		reason = s.tooLarge(s.line)
	}
	begin := s.r.Offset()
	u.raw, err = s.block(length, reason == nil)
	if err == nil {
		err = s.endRecord(length)
	}
	if err != nil && len(u.raw) > 0 && !s.wary && !errors.Is(err, unpack.ErrDamaged) {
		lineEnds := bytes.Repeat([]byte("\n"), int(s.r.Offset()-begin)-len(u.raw)) // those that were read after the block
		s.r.Unread(append(u.raw, lineEnds...))
		s.wary = true
	}
	return u, reason, err
}

// endRecord passes over the end of a record, and checks that another one follows.
func (s *warc) endRecord(length int64) error {
	begin, isGzip := s.r.Offset(), s.r.Packing == unpack.Gzip
	if err := s.blankLines(); errors.Is(err, io.EOF) || err != nil && isGzip && s.r.DamagedFrom() >= s.r.Offset() {
		return nil
	} else if err != nil {
		return err
	}
	next, _ := s.r.Peek(warcQuote)
	switch {
	case bytes.HasPrefix(next, []byte(warcPrefix)):
		return nil
	case isGzip && !s.r.BeginsMember(s.r.Offset()):
		return fmt.Errorf("%q follows it", next[:min(len(next), len(warcPrefix))]) // as in a member that is damaged, which shows at its end
	case !isGzip && s.r.Offset() < begin+2: // a record ends with two line ends
		return fmt.Errorf("Content-Length %d is wrong: %q follows", length, next)
	}
	return nil
}

// blankLines passes over the line ends between records. The error is io.EOF at the end of the file.
func (s *warc) blankLines() error {
	for {
		b, err := s.r.Peek(1)
		if len(b) == 0 {
			return err
		}
		if b[0] != '\r' && b[0] != '\n' {
			return nil
		}
		s.r.Discard(1)
	}
}

// headerLine returns the next line without its end. It is gone when another is read.
func (s *warc) headerLine(from int64) ([]byte, error) {
	line, err := s.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		err = fmt.Errorf("a line of %d bytes and more among its headers", len(line))
	case s.r.Offset()-from > warcHeaderBytes:
		err = fmt.Errorf("headers of more than %d bytes", warcHeaderBytes)
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// headers reads headers up to the empty line. Lines without a colon are passed over, and those
// that begin with white space continue the one before.
func (s *warc) headers(from int64) (textproto.MIMEHeader, error) {
	headers, last := textproto.MIMEHeader{}, ""
	for {
		line, err := s.headerLine(from)
		if err != nil || len(line) == 0 {
			return headers, err
		}
		last = addHeader(headers, last, line)
	}
}

// addHeader adds a line's header and returns its name. last is that of the line before.
func addHeader(headers textproto.MIMEHeader, last string, line []byte) string {
	if (line[0] == ' ' || line[0] == '\t') && len(headers[last]) > 0 {
		headers[last][0] += " " + string(bytes.TrimSpace(line))
		return last
	}
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return last
	}
	last = textproto.CanonicalMIMEHeaderKey(string(bytes.TrimSpace(name)))
	headers[last] = append(headers[last], string(bytes.TrimSpace(value)))
	return last
}

// warcUnit returns the unit that a record's headers describe, or why it is none.
func warcUnit(headers textproto.MIMEHeader, opts *Options) (u Unit, reason *input.Skip) {
	kind := strings.ToLower(headers.Get("WARC-Type"))
	contentType := headers.Get("Content-Type")
	switch kind {
	case "response":
		u.format = httpResponse // or a server of another protocol: its answer is the block
		if strings.Contains(mediaType(contentType), "http") {
			contentType = ""
		}
	case "resource", "conversion":
		u.format = pageFormat(mediaType(contentType))
	default:
		return u, &input.Skip{Reason: input.NoPage, Err: fmt.Errorf("a record of type %.40q", kind)}
	}
	if u.format == "" {
		return u, &input.Skip{Reason: input.NoPage, Err: fmt.Errorf("content of type %.80q", contentType)}
	}
	u.contentType = contentType
	if u.id = strings.Trim(headers.Get("WARC-Target-URI"), "<>"); u.id == "" {
		u.id = strings.Trim(headers.Get("WARC-Record-ID"), "<>")
	}
	u.values = opts.values(func(name string) Value { return Value{headers.Get(name), headers.Get(name) != ""} })
	return u, nil
}

// block reads a block, which it keeps if it has a page or its length may turn out to be wrong. What a record claims
// to have is trusted only as far as 1 MiB.
func (s *warc) block(length int64, isPage bool) ([]byte, error) {
	const trusted = 1 << 20
	buf := bytes.NewBuffer(s.other[:0])
	if isPage {
		buf = bytes.NewBuffer(make([]byte, 0, int(min(length, trusted))+bytes.MinRead))
	}
	if s.wary || length > s.opts.MaxDocumentBytes {
		to := io.Writer(buf)
		if !isPage {
			to = io.Discard
		}
		found, err := s.untilRecord(to, length)
		if found {
			err = fmt.Errorf("Content-Length %d is wrong: a record begins in the block", length)
		}
		return buf.Bytes(), err
	}
	_, err := io.CopyN(buf, s.r, length)
	if s.other = nil; !isPage && buf.Cap() <= trusted {
		s.other = buf.Bytes()
	}
	return buf.Bytes(), err
}
