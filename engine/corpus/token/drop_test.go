package token

import (
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// TestDrop checks the removed and the kept text of each kind. Nothing within a word is removed.
func TestDrop(t *testing.T) {
	for _, c := range []struct{ drop, text, want string }{
		{"urls", "see http://a.org/x?y=1, (https://b.cn/页) or WWW.c.d. www is not", "see  , ( 页) or  . www is not"},
		{"urls", "xhttp://a.org stays", "xhttp://a.org stays"},
		{"markup", "a <b class='x'>bold</b> 1 < 2 > 0 <!-- no\n --> &amp; R&D; [text](http://x) ```go\ncode```",
			"a  bold  1 < 2 > 0     R&D; [text   \ncode "},
		{"markup", "a <b without end & so on, a[i](x", "a <b without end & so on, a[i](x"},
		{"numbers", "12 of 3.5 or 1,000. 3D x2 2nd 5%", "  of   or  . 3D x2 2nd  %"},
		{"dates", "2024-01-31 1/2/24 31.12.2024 at 12:30:59.", "      at  ."},
		{"dates", "2024-01-31T12:30:59.5+01:00|2024-1-5Z", " |2024-1-5Z"},
		{"dates", "on January 31, 2024 and 31st Jan. 2024, May 5th; maybe March 2024 or 3 Sept",
			"on   and  ,  ; maybe   or  "},
		{"dates", "2024年1月31日，2024年，1月2日 版本1.2.3 192.168.1.1 10-20-30-40",
			" ， ，  版本1.2.3 192.168.1.1  -40"},
		{"numbers,dates", "2024-01-31 is day 31", "  is day  "},
		{"", "http://x <b> 12", "http://x <b> 12"},
	} {
		d, err := ParseDrop(c.drop)
		must.Do(t, err)
		if got := string(d.Append(nil, c.text)); got != c.want {
			t.Errorf("%s of %q:\n%q, want\n%q", c.drop, c.text, got, c.want)
		}
	}
}

// TestDropLongText: the time is linear in the length of the text. A search from each unclosed comment to the end of the
// text, or through all digits from each comma, would take hours.
func TestDropLongText(t *testing.T) {
	for drop, piece := range map[Drop]string{DropMarkup: "<!--", DropNumbers: "1,", DropDates: "1-", DropURLs: "www.",
		DropURLs | DropMarkup: "<a "} {
		text := strings.Repeat(piece, 4<<20/len(piece)) + "1a"
		if got := string(drop.Append(nil, text)); got != text && drop&DropURLs == 0 {
			t.Errorf("%v of %q again and again: %.40q", drop, piece, got)
		}
	}
}

// TestParseDrop: every order of a list is one value, which has one name.
func TestParseDrop(t *testing.T) {
	d, err := ParseDrop("dates, urls")
	if err != nil || d != DropURLs|DropDates || d.String() != "urls,dates" {
		t.Error(d, err)
	}
	if _, err := ParseDrop("urls,words"); err == nil || !strings.Contains(err.Error(),
		"must be of urls, markup, numbers, dates") {
		t.Error(err)
	}
}

// FuzzDrop: no text causes a panic, the rest is a subsequence of the text, and dropping nothing changes nothing.
func FuzzDrop(f *testing.F) {
	f.Add(uint8(15), "2024-01-31T12:30 <a href=x> &#1; http:// 1月2 Jan 3, ]( ``` 12:3")
	f.Fuzz(func(t *testing.T, drop uint8, text string) {
		got := string((Drop(drop) & 15).Append(nil, text))
		if len(got) > len(text) || drop&15 == 0 && got != text {
			t.Errorf("%q of %q", got, text)
		}
	})
}
