package document

import (
	"bytes"
	"testing"

	"golang.org/x/net/html"
)

// slowly extracts with html.Tokenizer alone.
func slowly(page []byte, how Extract) string {
	p := pageText{slow: true}
	return p.extract(page, how)
}

var oddPages = []string{
	"<html><head><title>A &amp; B</title><script>if (a < b) x()</script></head><body class=x><p>One <b>bo</b>ld.<br/>Two<br />three</p></body></html>",
	"<p a=1 b='2' c=\"3\" d>x</p><P CLASS=NAV>y</P><img src=a/>z<input/ >", "a < b <c", "<", "</", "<a", "<a b", "<a b=", "<a b='", "</>x</ a>y", "<!-->x", "<!--->x", "<!-- a -- b -->x<!-- c --!>d",
	"<!doctype html><?xml x?>a<!x>b<![CDATA[c]]>d<!", "<script><!-- </script> --></script>x", "<script><!-- <script> </script> --></script>x", "<script/>x</script>y", "<style>a</styleb></style >b", "<textarea>&lt;b></textarea>c", "<title>\r\nx</title>",
	"<pre>a\r\nb\rc\n</pre>", "x\x00y<p>z", "<plaintext>a<b>", "<xmp><b></xmp>c", "<noscript><p>a</noscript>b", "<iframe><p>a</iframe>b", "<a =b>c", "<a b=c/>d<a b=/>e", "<a b = c>d", "<a b c = 'd'e>f",
	"<div role=navigation>a</div><div id=toc class='x toc'>b</div><div class=\"a&amp;b toc\">c</div><main>d</main>", "<svg><p>a</svg><math><x>b</math>c", "&copy &copy; &#65; &#x;", "<p\x0cclass=nav>a", "<\u00e9>a", "<a\"b>c", "<a<b>c",
}

// TestTags: the quick tokenizer takes the same text out of a page as html.Tokenizer does, or gives up.
func TestTags(t *testing.T) {
	for _, page := range oddPages {
		for _, how := range []Extract{ExtractAll, ExtractMain, ExtractAuto} {
			var p pageText
			if got, want := p.extract([]byte(page), how), slowly([]byte(page), how); got != want {
				t.Errorf("%s of %q: %q, want %q", how, page, got, want)
			}
		}
	}
	var quick tags
	quick.reset([]byte(oddPages[0]))
	for quick.Next() != html.ErrorToken {
	}
	if quick.gaveUp {
		t.Error("the quick tokenizer gives up at a usual page")
	}
}

// FuzzTags: whatever a page is, both tokenizers give the same text.
func FuzzTags(f *testing.F) {
	for _, page := range oddPages {
		f.Add([]byte(page))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		before := bytes.Clone(page)
		for _, how := range []Extract{ExtractAll, ExtractMain} {
			var p pageText
			if got, want := p.extract(page, how), slowly(page, how); got != want {
				t.Errorf("%s of %q: %q, want %q", how, page, got, want)
			}
		}
		if !bytes.Equal(page, before) {
			t.Error("the page was changed")
		}
	})
}
