package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
)

// record returns a WARC record. headers alternates names and values.
func record(kind, block string, headers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "WARC/1.1\r\nWARC-Type: %s\r\n", kind)
	for i := 0; i < len(headers); i += 2 {
		fmt.Fprintf(&b, "%s: %s\r\n", headers[i], headers[i+1])
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
	return b.String()
}

// crawled is the record of a page's response, as a crawler writes it.
func crawled(uri, http, body string) string {
	return record("response", "HTTP/1.1 "+strings.ReplaceAll(http, "\n", "\r\n")+"\r\n\r\n"+body,
		"WARC-Record-ID", "<urn:uuid:1>", "WARC-Target-URI", uri, "WARC-Date", "2024-05-06T07:08:09Z", "Content-Type",
		"application/http; msgtype=response")
}

func TestWARC(t *testing.T) {
	info := record("warcinfo", "software: test\r\n", "Content-Type", "application/warc-fields")
	const html = "200 OK\nContent-Type: text/html; charset=utf-8"
	packed := gz(t, "<p>Packed twice")
	tree(t, map[string]string{
		"crawl.warc": info + record("request", "GET / HTTP/1.1\r\n\r\n", "WARC-Target-URI", "http://a/") +
			crawled("http://a/", html, "<title>A</title><p>One &amp; two") +
			crawled("http://a/gone", "404 Not Found\nContent-Type: text/html", "<p>Not here") +
			crawled("http://a/pic", "200 OK\nContent-Type: image/png", "\x89PNG") +
			record("revisit", "HTTP/1.1 200 OK\r\n\r\n", "WARC-Target-URI", "http://a/again"),
		"each.warc.gz": gz(t, info, crawled("http://b/1", html, "<p>b one"), crawled("http://b/2", html, "<p>b two")),
		"wet": record("conversion", "Text alone.\n", "WARC-Target-URI", "http://c/", "Content-Type", "text/plain") +
			record("resource", "<p>Not by HTTP", "WARC-Target-URI", "<ftp://c/>", "Content-Type", "text/html") +
			record("resource", "plain", "WARC-Record-ID", "<urn:uuid:7>", "Content-Type", "text/x-anything"),
		"bodies.warc": crawled("chunks", html+"\nTransfer-Encoding: chunked", "5\r\n<p>Hi\r\n7;x=y\r\n, there\r\n0\r\n\r\n") +
			crawled("no chunks", html+"\nTransfer-Encoding: chunked", "<p>Already together") +
			crawled("cut chunks", html+"\nTransfer-Encoding: chunked", "ff\r\n<p>What there is") +
			crawled("gzip", html+"\nContent-Encoding: gzip", packed) +
			crawled("cut gzip", html+"\nContent-Encoding: gzip", packed[:len(packed)-4]) +
			crawled("no gzip", html+"\nContent-Encoding: x-gzip", "<p>Unpacked by the crawler") +
			crawled("br", html+"\nContent-Encoding: br", "\x0b\x02\x80") +
			crawled("folded", "200\nX: y\nContent-Type:\n text/plain", "<b>") +
			crawled("untyped", "200 OK\nno colon", "<!DOCTYPE html><p>Looks like it") +
			crawled("untyped text", "200 OK", "Looks like <b>") +
			crawled("untyped rest", "200 OK", "a\x00b") +
			crawled("empty", html, ""),
		"charset.warc": crawled("http", "200 OK\nContent-Type: text/html; charset=windows-1251",
			"<p>\xcf\xf0\xe8\xe2\xe5\xf2") +
			crawled("text", "200 OK\nContent-Type: text/plain; charset=KOI8-R", "\xf0\xd2\xc9\xd7\xc5\xd4"),
		"loose.warc": "\n" + strings.ReplaceAll(record("conversion", "Line ends without returns", "Content-Type",
			"text/plain", "Warc-target-uri", "loose"), "\r\n", "\n") + "\n\n\n" +
			strings.TrimRight(record("conversion", "No end", "Content-Type", "text/plain", "WARC-Target-URI", "last"), "\r\n"),
		"none.warc": "", "blank.warc": "\r\n\r\n",
	})
	noPage := func(file string, n int, why string) string {
		return fmt.Sprintf("skip: %s:%d: no page: %s", file, n, why)
	}
	for file, want := range map[string][]string{
		"crawl.warc": {noPage("crawl.warc", 1, `a record of type "warcinfo"`), noPage("crawl.warc", 2,
			`a record of type "request"`), "http://a/: A\nOne & two",
			noPage("crawl.warc", 4, "HTTP status 404"), noPage("crawl.warc", 5, `4 bytes of type "image/png"`),
			noPage("crawl.warc", 6, `a record of type "revisit"`)},
		"each.warc.gz": {noPage("each.warc.gz", 1, `a record of type "warcinfo"`), "http://b/1: b one", "http://b/2: b two"},
		"wet":          {"http://c/: Text alone.\n", "ftp://c/: Not by HTTP", "urn:uuid:7: plain"},
		"bodies.warc": {"chunks: Hi, there", "no chunks: Already together", "cut chunks: What there is", "gzip: Packed twice",
			"cut gzip: Packed twice",
			"no gzip: Unpacked by the crawler", `skip: bodies.warc:7: broken: content encoding br: unexpected EOF`,
			"folded: <b>",
			"untyped: Looks like it", "untyped text: Looks like <b>", noPage("bodies.warc", 11, `3 bytes of type ""`),
			noPage("bodies.warc", 12, `0 bytes of type "text/html; charset=utf-8"`)},
		"charset.warc": {"http: Привет", "text: Привет"},
		"loose.warc":   {"loose: Line ends without returns", "last: No end"},
		"none.warc":    nil, "blank.warc": nil,
	} {
		if got, err := read(t, Options{}, nil, file); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%s: %v %s", file, err, cmp.Diff(want, got))
		}
	}

	// The values that a policy uses.
	for doc, err := range Read(t.Context(), []string{"each.warc.gz"},
		Options{ValueFields: [][]string{{"date", "WARC-Date"}}}, nil) {
		if err == nil && (doc.Values[0] != Value{Text: "2024-05-06T07:08:09Z", Found: true}) {
			t.Errorf("%s has the date %+v", doc.ID, doc.Values)
		}
	}
	// A limit skips longer records, packed or not.
	got, err := read(t, Options{MaxDocumentBytes: 100}, nil, "bodies.warc")
	if err != nil || !strings.Contains(strings.Join(got, "\n"), "too large") {
		t.Error(got, err)
	}
	bomb := Options{MaxDocumentBytes: 1000}
	long := gz(t, strings.Repeat("z", 100_000))
	got, err = read(t, bomb, strings.NewReader(crawled("bomb", html+"\nContent-Encoding: gzip", long)), "-")
	if want := []string{"skip: -:1: too large: more than 1000 bytes"}; err != nil || cmp.Diff(want, got) != "" {
		t.Error(got, err)
	}
}

// TestDamagedWARC checks that if a file is truncated or damaged at any position, the records before it are read, and
// the error names the position.
func TestDamagedWARC(t *testing.T) {
	one := crawled("one", "200 OK\nContent-Type: text/plain", "first")
	two := crawled("two", "200 OK\nContent-Type: text/plain", "second")
	for cut := len(one) + 1; cut < len(two)+len(one)-4; cut++ {
		got, err := read(t, Options{}, strings.NewReader((one + two)[:cut]), "-")
		if err != nil || len(got) != 2 || !strings.Contains(got[1], fmt.Sprintf("-:2: unreadable: record at byte %d: ",
			len(one))) {
			t.Fatalf("cut at %d: %v, %v", cut, got, err)
		}
	}
	for want, tail := range map[string]string{
		`there is none, but "nonsense"`:               "nonsense\r\n",
		`Content-Length "many" is no number of bytes`: "WARC/1.0\r\nContent-Length: many\r\n\r\n",
		`Content-Length "-1" is no number of bytes`:   "WARC/1.0\r\nContent-Length: -1\r\n\r\n",
		`Content-Length "99999999999999999999" is no number of bytes`: "WARC/1.0\r\nContent-Length: " +
			"99999999999999999999\r\n\r\n",
		`Content-Length "" is no number of bytes`: "WARC/1.0\r\n\r\n",
		"the file ends within it: is it cut short?": "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: " +
			"9000000000000000000\r\n\r\n",
		"a line of 131072 bytes and more among its headers": "WARC/1.0\r\nX: " + strings.Repeat("x", 300_000),
		"headers of more than 1048576 bytes":                "WARC/1.0\r\n" + strings.Repeat("X: y\r\n", 200_000),
	} {
		got, err := read(t, Options{}, strings.NewReader(one+tail), "-")
		want = fmt.Sprintf("skip: -:2: unreadable: record at byte %d: %s", len(one), want)
		if err != nil || len(got) != 2 || got[1] != want {
			t.Errorf("%v, want %s after %d", err, want, len(got))
		}
	}
	// Without any record it is an error, not a skip.
	if got, err := read(t, Options{Format: WARC}, strings.NewReader("nonsense\n"), "-"); len(got) > 0 ||
		fmt.Sprint(err) != `-:1: record at byte 0: there is none, but "nonsense"` {
		t.Errorf("%q, %v", got, err)
	}
	// The compression's own error names it. In a folder it is a skip, and the next file is read.
	whole := gz(t, one, two)
	tree(t, map[string]string{"d/a.warc.gz": whole[:len(whole)-30], "d/b.txt": "next"})
	got, err := read(t, Options{}, nil, "d")
	want := []string{"one: first", "skip: d/a.warc.gz:2: unreadable: record at byte " + fmt.Sprint(len(one)) +
		": gzip: unexpected EOF: is the file cut short?", "d/b.txt: next"}
	if err != nil || cmp.Diff(want, got) != "" {
		t.Error(err, cmp.Diff(want, got))
	}
}

// TestResumedWARC checks that damage to one member of a gzip file affects no records of other members. The content that
// is copied during the read has exactly those records.
func TestResumedWARC(t *testing.T) {
	var records, members []string
	for i, body := range []string{"first", strings.Repeat("The second is longer. ", 9) + fmt.Sprint(int64(5<<40)), "third",
		"fourth"} {
		records = append(records, crawled(fmt.Sprint("http://a/", i), "200 OK\nContent-Type: text/plain", body))
		members = append(members, gz(t, records[i]))
	}
	tree(t, nil)
	try := func(what string, damaged int, packed []string) {
		t.Helper()
		must.Do(t, os.WriteFile("a.warc.gz", []byte(strings.Join(packed, "")), 0o644))
		opts := Options{Format: WARC}
		var ids, content []string
		c, err := Open(t.Context(), input.File{Path: "a.warc.gz"}, opts)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		defer c.Close()
		var copied bytes.Buffer
		gaps, whole := 0, int64(-1)
		for u, err := range c.Units {
			if skip, ok := errors.AsType[*input.Skip](err); ok {
				switch {
				case skip.ResumedAt > 0:
					gaps++
				case skip.Reason == input.NoPage: // the rest of a record may look like a record of another kind
				case whole >= 0 || skip.Reason != input.Unreadable:
					t.Fatalf("%s: %v", what, err)
				default:
					whole = skip.Offset
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			doc, err := NewExtractor(t.Context(), opts).Extract(u)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			ids = append(ids, doc.ID)
			if _, err := io.CopyN(&copied, c, u.To-int64(copied.Len())); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		for i, r := range records {
			id := fmt.Sprint("http://a/", i)
			if slices.Contains(ids, id) {
				content = append(content, r)
			} else if i != damaged {
				t.Fatalf("%s: %q, without %s", what, ids, id)
			}
		}
		if len(content) != len(ids) || len(ids) < len(records) && gaps == 0 && whole < 0 || gaps > 1 {
			t.Fatalf("%s: %q, %d, %d", what, ids, gaps, whole)
		}
		tail := io.Reader(c)
		if whole >= 0 {
			tail = io.LimitReader(c, whole-int64(copied.Len()))
		}
		if _, err := io.Copy(&copied, tail); err != nil || copied.String() != strings.Join(content, "") {
			t.Fatalf("%s: %v, %d, %d, %q, want %q", what, err, gaps, whole, copied.String(), content)
		}
	}
	try("sound", -1, members)
	bits, flips := []byte{1, 32, 1}, long.Or(1, 2) // bits to flip in each byte
	for i, m := range members {
		packed := slices.Clone(members)
		for offset := range m {
			if i == 0 && offset < 3 {
				continue // the result is no gzip file
			}
			for _, bit := range bits[offset%2 : offset%2+flips] {
				b := []byte(m)
				b[offset] ^= bit
				packed[i] = string(b)
				try(fmt.Sprintf("member %d, byte %d, bit %#x", i, offset, bit), i, packed)
			}
			if offset > 20 {
				packed[i] = m[:offset]
				try(fmt.Sprintf("member %d cut at %d", i, offset), i, packed)
			}
		}
		packed[i] = "garbage that is no member\x1f\x8b\x08 but looks like one" + m
		if i > 0 {
			try(fmt.Sprintf("garbage before member %d", i), -1, packed)
		}
	}
	// A member that is damaged at its end, and longer than the remembered part.
	packed := slices.Clone(members)
	m := []byte(gz(t, crawled("http://a/1", "200 OK\nContent-Type: text/plain", noise(5<<20, 1))))
	m[len(m)-6] ^= 1
	packed[1] = string(m)
	try("a long member", 1, packed)
	m[len(m)/2] ^= 1
	packed[1] = string(m)
	try("a long member, twice", 1, packed)

	tree(t, map[string]string{"a.warc.gz": strings.Join(packed, "")})
	got, err := read(t, Options{}, nil, "a.warc.gz")
	want := fmt.Sprintf("byte %d of the file, where the next record begins", len(packed[0])+len(packed[1]))
	if err != nil || len(got) != 4 || !strings.Contains(got[1], want) || got[3] != "http://a/3: fourth" {
		t.Errorf("%v, %.300q, want %s", err, got, want)
	}
	if got, err := read(t, Options{Strict: true}, nil, "a.warc.gz"); err == nil || len(got) != 1 {
		t.Errorf("strict: %q, %v", got, err)
	}
}

// TestWrongLengths checks that if the length of a record is wrong, the records after it are read, the error is
// reported, and a copy has every byte.
func TestWrongLengths(t *testing.T) {
	const html = "200 OK\nContent-Type: text/html"
	sound := func(i int) string {
		return crawled(fmt.Sprint("http://a/", i), html, strings.Repeat("<p>A page among others.", 20))
	}
	length := regexp.MustCompile(`Content-Length: (\d+)\r\n`)
	// wrong returns a record with a wrong length: changed by a number, or by a function.
	wrong := func(record string, by int) string {
		n, _ := strconv.Atoi(length.FindStringSubmatch(record)[1])
		return length.ReplaceAllLiteralString(record, fmt.Sprintf("Content-Length: %d\r\n", n+by))
	}
	without := func(record, instead string) string { return length.ReplaceAllLiteralString(record, instead) }
	request := record("request", strings.Repeat("GET / HTTP/1.1\r\n", 40), "WARC-Target-URI", "http://a/")
	nested := crawled("http://a/nested", "200 OK\nContent-Type: text/plain", "About records:\n"+sound(7)+"Was it clear?")
	tree(t, nil)
	for what, parts := range map[string]struct {
		broken []int // numbers of the broken parts
		parts  []string
	}{
		"one byte less":       {[]int{1}, []string{sound(0), wrong(sound(1), -1), sound(2)}},
		"nothing":             {[]int{1}, []string{sound(0), without(sound(1), "Content-Length: 0\r\n"), sound(2)}},
		"into the next":       {[]int{1}, []string{sound(0), wrong(sound(1), 9), sound(2)}},
		"into the next block": {[]int{1}, []string{sound(0), wrong(sound(1), 500), sound(2), sound(3)}},
		"behind the file":     {[]int{1}, []string{sound(0), wrong(sound(1), 5000), sound(2), sound(3)}},
		"beyond the limit":    {[]int{1}, []string{sound(0), wrong(sound(1), 1<<40), sound(2), sound(3)}},
		"none":                {[]int{1}, []string{sound(0), without(sound(1), ""), sound(2)}},
		"no number":           {[]int{1}, []string{sound(0), without(sound(1), "Content-Length: 1 kB\r\n"), sound(2)}},
		"negative":            {[]int{0}, []string{without(sound(1), "Content-Length: -1\r\n"), sound(2)}},
		"of a request":        {[]int{1}, []string{sound(0), wrong(request, 70), sound(2)}},
		"several":             {[]int{0, 1, 3}, []string{wrong(sound(0), 900), wrong(request, 999), sound(2), wrong(sound(3), -7), sound(4)}},
		"after a nested one":  {[]int{1}, []string{nested, wrong(sound(1), 20), sound(2)}},
		"garbage":             {[]int{1}, []string{sound(0), "no record", "\n", sound(2)}},
		"garbage first":       {[]int{0}, []string{"\x00\x01 of another\nWARC/1.0", "\n", sound(2)}},
		"a short last line":   {nil, []string{sound(0), strings.TrimSuffix(sound(1), "\r\n"), sound(2)}},
	} {
		content := strings.Join(parts.parts, "")
		for name, file := range map[string]string{"a.warc": content, "one.warc.gz": gz(t, content),
			"each.warc.gz": gz(t, parts.parts...), "each.warc.zst": zst(t, parts.parts...)} {
			var want []string
			for i, p := range parts.parts {
				if uri := regexp.MustCompile(`http://a/\w+`).FindString(p); slices.Contains(parts.broken, i) {
					want = append(want, "broken")
				} else if uri != "" {
					want = append(want, uri)
				}
			}
			if name == "one.warc.gz" && what == "garbage" { // only the end of a damaged member shows the damage
				want = want[1:]
			}
			must.Do(t, os.WriteFile(name, []byte(file), 0o644))
			c, err := Open(t.Context(), input.File{Path: name}, Options{Format: WARC})
			must.Do(t, err)
			var got []string
			for u, err := range c.Units {
				if skip, ok := errors.AsType[*input.Skip](err); ok && skip.Reason == input.Broken {
					got = append(got, "broken")
					if next := content[skip.End:]; !strings.HasPrefix(next, "WARC/") && next != "" {
						t.Errorf("%s, %s: resumed before %.20q", what, name, next)
					}
				} else if err == nil {
					got = append(got, u.id)
				} else {
					got = append(got, err.Error())
				}
			}
			whole, err := io.ReadAll(c)
			c.Close()
			if diff := cmp.Diff(want, got); diff != "" || string(whole) != content {
				t.Errorf("%s, %s: %s, %v, %d of %d bytes copied", what, name, diff, err, len(whole), len(content))
			}
		}
	}
}

// FuzzWARC checks that no file causes a panic, more units than it has bytes, or a wrong position.
func FuzzWARC(f *testing.F) {
	f.Add(crawled("u", "200 OK\nContent-Type: text/html\nTransfer-Encoding: chunked", "3\r\nabc\r\n0\r\n\r\n"))
	f.Add(crawled("u", "200 OK\nContent-Encoding: gzip, deflate", "\x1f\x8b\x08"))
	f.Add(record("conversion", "text", "Content-Type", "text/plain; charset=gbk", "WARC-Target-URI", "u") +
		record("warcinfo", ""))
	f.Add("WARC/1.0\nContent-Length: 3\n folded\n\nabcWARC/")
	f.Fuzz(func(t *testing.T, file string) {
		opts := Options{Format: WARC, MaxDocumentBytes: 1 << 16}
		end := int64(0)
		e := NewExtractor(t.Context(), opts)
		for u, err := range Scan(t.Context(), []string{"-"}, opts, strings.NewReader(file)) {
			if err != nil {
				continue
			}
			if u.From < end || u.To <= u.From || u.Line == 0 {
				t.Fatalf("a unit from %d to %d after %d", u.From, u.To, end)
			}
			end = u.To
			if !strings.HasPrefix(file[u.From:u.To], "WARC/") {
				t.Fatalf("a unit begins with %.20q", file[u.From:])
			}
			if tail := file[u.To:]; tail != "" && (tail[0] == '\r' || tail[0] == '\n') {
				t.Fatalf("a unit ends before %.20q", tail)
			}
			if doc, err := e.Extract(u); err == nil && len(doc.Text) > 1<<18 {
				t.Fatalf("%d bytes of text", len(doc.Text))
			}
		}
	})
}

// FuzzMembers checks that any gzip file is read to its end, and the content that is copied during the read has every
// unit at its position.
func FuzzMembers(f *testing.F) {
	one := crawled("one", "200 OK\nContent-Type: text/plain", "first")
	members := []byte(gz(f, one, one+one, "x"))
	f.Add(members, uint16(60), byte(0))
	f.Add(append(members[:200:200], members...), uint16(9), byte(1))
	f.Fuzz(func(t *testing.T, file []byte, offset uint16, change byte) {
		if int(offset) < len(file) {
			file = bytes.Clone(file)
			file[offset] ^= change
		}
		path := filepath.Join(t.TempDir(), "a.warc.gz")
		must.Do(t, os.WriteFile(path, file, 0o644))
		opts := Options{Format: WARC, MaxDocumentBytes: 1 << 16}
		c, err := Open(t.Context(), input.File{Path: path}, opts)
		if err != nil {
			return
		}
		defer c.Close()
		read := int64(0)
		for u, err := range c.Units {
			if err != nil {
				continue
			}
			if _, err := io.CopyN(io.Discard, c, u.From-read); err != nil {
				t.Fatalf("%v before a unit at %d", err, u.From)
			}
			record := make([]byte, u.To-u.From)
			if _, err := io.ReadFull(c, record); err != nil || !bytes.HasPrefix(record, []byte("WARC/")) {
				t.Fatalf("%v in a unit at %d, %.20q", err, u.From, record)
			}
			read = u.To
		}
	})
}
