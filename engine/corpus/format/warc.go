package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/unpack"
)

// A WARC file (ISO 28500) is a sequence of records. Usually each record is compressed separately; a gzip or zstd reader
// reads them as one stream:
//
//	WARC/1.0 CRLF                             version
//	WARC-Type: response CRLF ...              headers
//	Content-Length: 1234 CRLF
//	CRLF
//	1234 bytes                                block: for a response, HTTP's headers and body
//	CRLF CRLF
//
// A unit is the block of a response, resource or conversion record (as in WET files). Its ID is the URI of the target.
// Its values are the contents of headers such as WARC-Date. All other records hold no page. They are skips that lose no
// data. If no record begins after the end of a record, the length of that record may be wrong. Reading then resumes at
// the next record (resume.go). The Line of a unit is the number of its record, from 1.

const (
	warcHeaderBytes = 1 << 20 // maximum size of a record's version and headers
	warcQuote       = 40      // bytes to quote if there is no record
	warcPrefix      = "WARC/" // beginning of a record
)

// recordStart matches the beginning of a record. A match has at most recordStartBytes.
var recordStart = regexp.MustCompile(`WARC/\d\.\d{1,2}\r?\n[A-Za-z-]{1,40}:`)

const recordStartBytes = 64

// warcReader reads the records of a content.
type warcReader struct {
	c        *Content
	line     int    // number of the last record
	complete int64  // offset up to which all records are read
	handed   int64  // end offset of the last record that the caller got
	wary     bool   // a length was wrong, so a block also ends at a line that seems to begin a record
	spare    []byte // memory for blocks without a page
}

// foreignError is an error at the beginning of a file, which may not be WARC.
type foreignError struct{ error }

func (f foreignError) Unwrap() error { return f.error }

// record reads the next record.
func (w *warcReader) record() (u Unit, err error) {
	w.line++
	w.complete = w.c.r.Offset()
	if err = w.blankLines(); errors.Is(err, io.EOF) {
		return u, err
	}
	from := w.c.r.Offset()
	if err != nil {
		return u, brokenRecord(from, err)
	}
	w.complete = from
	u, reason, err := w.readRecord(from)
	if err != nil {
		return u, brokenRecord(from, err)
	}
	if reason != nil {
		reason.Line, reason.Offset = w.line, from
		return u, reason
	}
	u.Line, u.From, u.To = w.line, from, w.c.r.Offset()
	w.handed = u.To
	return u, nil
}

// brokenRecord returns the error of a record that begins at from and cannot be read.
func brokenRecord(from int64, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == io.ErrUnexpectedEOF { // errors of a compression already say so
		err = errors.New("the file ends within it: is it cut short?")
	}
	if err = fmt.Errorf("record at byte %d: %w", from, err); errors.As(err, new(foreignError)) {
		return err
	}
	return unpack.Damage(err)
}

// readRecord reads the record that begins at from. It returns its unit, or the reason why it has none.
func (w *warcReader) readRecord(from int64) (u Unit, reason *input.Skip, err error) {
	// Read the version and the headers.
	version, err := w.headerLine(from)
	if err != nil {
		return u, nil, err
	}
	if !bytes.HasPrefix(version, []byte(warcPrefix)) {
		err = fmt.Errorf("there is none, but %q", version[:min(len(version), warcQuote)])
		if from == 0 {
			err = foreignError{err}
		}
		return u, nil, err
	}
	headers, err := w.headers(from)
	if err != nil {
		return u, nil, err
	}
	length, err := strconv.ParseInt(headers.Get("Content-Length"), 10, 64)
	if err != nil || length < 0 {
		return u, nil, fmt.Errorf("Content-Length %.40q is no number of bytes", headers.Get("Content-Length"))
	}
	// Read the block, and check that another record follows.
	if u, reason = warcUnit(headers, &w.c.opts); reason == nil && length > w.c.opts.MaxDocumentBytes {
		reason = w.c.tooLarge(w.line)
	}
	begin := w.c.r.Offset()
	u.raw, err = w.block(length, reason == nil)
	if err == nil {
		err = w.endRecord(length)
	}
	// After the first wrong length, the block is read again as far as the next record.
	if err != nil && len(u.raw) > 0 && !w.wary && !errors.Is(err, unpack.ErrDamaged) {
		lineEnds := bytes.Repeat([]byte("\n"), int(w.c.r.Offset()-begin)-len(u.raw)) // line ends read after the block
		w.c.r.Unread(append(u.raw, lineEnds...))
		w.wary = true
	}
	return u, reason, err
}

// endRecord passes over the end of a record, and checks that another one follows.
func (w *warcReader) endRecord(length int64) error {
	begin, isGzip := w.c.r.Offset(), w.c.r.Packing == unpack.Gzip
	if err := w.blankLines(); errors.Is(err, io.EOF) || err != nil && isGzip && w.c.r.DamagedFrom() >= w.c.r.Offset() {
		return nil
	} else if err != nil {
		return err
	}
	next, _ := w.c.r.Peek(warcQuote)
	switch {
	case bytes.HasPrefix(next, []byte(warcPrefix)):
		return nil
	case isGzip && !w.beginsMember(0):
		return fmt.Errorf("%q follows it", next[:min(len(next), len(warcPrefix))]) // for example, a damaged member
	case !isGzip && w.c.r.Offset() < begin+2: // a record ends with two line ends
		return fmt.Errorf("Content-Length %d is wrong: %q follows", length, next)
	}
	return nil
}

// blankLines passes over the line ends between records. The error is io.EOF at the end of the file.
func (w *warcReader) blankLines() error {
	for {
		b, err := w.c.r.Peek(1)
		if len(b) == 0 {
			return err
		}
		if b[0] != '\r' && b[0] != '\n' {
			return nil
		}
		w.c.r.Discard(1)
	}
}

// headerLine returns the next line without its end. It is valid until the next read.
func (w *warcReader) headerLine(from int64) ([]byte, error) {
	line, err := w.c.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		err = fmt.Errorf("a line of %d bytes and more among its headers", len(line))
	case w.c.r.Offset()-from > warcHeaderBytes:
		err = fmt.Errorf("headers of more than %d bytes", warcHeaderBytes)
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// headers reads headers up to the empty line. It ignores lines without a colon. A line that begins with white space
// continues the header before it.
func (w *warcReader) headers(from int64) (textproto.MIMEHeader, error) {
	headers, last := textproto.MIMEHeader{}, ""
	for {
		line, err := w.headerLine(from)
		if err != nil || len(line) == 0 {
			return headers, err
		}
		last = addHeader(headers, last, line)
	}
}

// warcUnit returns the unit that a record's headers describe, or the reason why there is none.
func warcUnit(headers textproto.MIMEHeader, opts *Options) (u Unit, reason *input.Skip) {
	kind := strings.ToLower(headers.Get("WARC-Type"))
	contentType := headers.Get("Content-Type")
	switch kind {
	case "response":
		u.format = httpResponse // another protocol: the block is the answer of the server
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

// block reads a block. It keeps the block if it has a page, or if its length may prove wrong. It does not trust stated
// lengths above 1 MiB.
func (w *warcReader) block(length int64, isPage bool) ([]byte, error) {
	const trusted = 1 << 20
	buf := bytes.NewBuffer(w.spare[:0])
	if isPage {
		buf = bytes.NewBuffer(make([]byte, 0, int(min(length, trusted))+bytes.MinRead))
	}
	if w.wary || length > w.c.opts.MaxDocumentBytes {
		to := io.Writer(buf)
		if !isPage {
			to = io.Discard
		}
		found, err := w.untilRecord(to, length)
		if found {
			err = fmt.Errorf("Content-Length %d is wrong: a record begins in the block", length)
		}
		return buf.Bytes(), err
	}
	_, err := io.CopyN(buf, w.c.r, length)
	if w.spare = nil; !isPage && buf.Cap() <= trusted {
		w.spare = buf.Bytes()
	}
	return buf.Bytes(), err
}

// beginsMember reports whether a gzip member begins ahead bytes after the current offset.
func (w *warcReader) beginsMember(offset int) bool {
	_, begins := w.c.r.Member(w.c.r.Offset() + int64(offset))
	return begins && w.c.r.Packing == unpack.Gzip
}

// untilRecord copies up to length bytes to a writer. It stops before a line that begins a record.
func (w *warcReader) untilRecord(to io.Writer, length int64) (found bool, err error) {
	previous := byte('\n')
	for length > 0 {
		// Look at the bytes that are buffered.
		head, err := w.c.r.Peek(recordStartBytes)
		if len(head) == 0 {
			return false, err
		}
		n := len(head)
		if err == nil {
			head, _ = w.c.r.Peek(w.c.r.Buffered())
			n = len(head) - recordStartBytes + 1 // a record may begin in the other bytes and continue after them
		}
		n = int(min(int64(n), length))
		// Search the beginning of a record among them.
		for _, m := range recordStart.FindAllIndex(head, -1) {
			start := m[0]
			if start < n && (start == 0 && previous == '\n' || start > 0 && head[start-1] == '\n' || w.beginsMember(start)) {
				n, found = start, true
				break
			}
		}
		// Copy the bytes before it.
		if n > 0 {
			previous = head[n-1]
		}
		if _, err := to.Write(head[:n]); err != nil || found && n == 0 {
			return found, err
		}
		w.c.r.Discard(n)
		if found {
			return true, nil
		}
		length -= int64(n)
	}
	return false, nil
}
