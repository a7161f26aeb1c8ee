package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"example.org/ndd/engine/oracle/must"
)

// decoded returns the result of a new decoder for a document.
func decoded(t testing.TB, raw string, declared Declaration) Result {
	t.Helper()
	r, err := new(Decoder).Decode(t.Context(), []byte(raw), declared)
	must.Do(t, err)
	return r
}

// pageOf returns the result of a new decoder for a page.
func pageOf(t testing.TB, raw string) Result { return decoded(t, raw, Declaration{Kind: Page}) }

func TestHTMLText(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"empty", "", ""},
		{"text alone", "just  text\n here", "just text here"},
		{"inline elements do not break words", "<p>un<b>believ</b>able <i>a</i><em>b</em></p>", "unbelievable ab"},
		{"block elements do", "<div>a<p>b</div>c<ul><li>d<li>e</ul>f<br>g<h1>h</h1>i", "a\nb\nc\nd\ne\nf\ng\nh\ni"},
		{"cells are apart", "<table><tr><td>1<td>2<tr><th>3</th><th>4</th></table>", "1 2\n3 4"},
		{"nothing but markup within words", "<div><span>l<!-- y -->i<em class=x>ne</em> of<wbr>ten &#23383;</span></div>",
			"line often 字"},
		{"head", "<!doctype html><html><head><title>T &amp; t</title><meta name=description content=no><link " +
			"href=no></head><body>b</body></html>", "T & t\nb"},
		{"references", "&lt;&#20013;&#x6587;&nbsp;&eacute;&unknown;&amp", "<中文\u00a0é&unknown;&"},
		{"script, style, comment", "a<script>if (x < '</p>') {}</script>b<style>p {}</style>c<!-- d -->e", "abce"},
		{"script that never ends", "a<script>b<p>c", "a"},
		{"noscript, template, svg",
			"a<noscript><p>n</noscript>b<template><div>t</div></template>c<svg><title>s</title><text>u</text></svg>d", "abcd"},
		{"template in template", "<template>a<template>b</template>c</template>d", "d"},
		{"drawing that never ends", "a<svg><path d='M'><p>b", "a\nb"},
		{"drawing ended by a paragraph", "<svg><path><p>b</p></svg>c", "b\nc"},
		{"template that never ends", "a<template>b<p>c", "ab\nc"},
		{"two that never end", "a<template>b<video>c<object>d", "abcd"},
		{"stray end tags", "a</template></svg></div></script>b</p>c", "a\nb\nc"},
		{"self-closing", "a<svg/>b<template/>c<br/>d<script/>e</script>f", "abc\ndf"},
		{"pre keeps lines", "<pre>a\n  b\n\nc</pre> d\ne", "a\nb\nc\nd e"},
		{"attributes are no text", `<a title="no > no" href='x'>yes</a><img alt=no src=x>`, "yes"},
		{"textarea and option", "<textarea><b>x</b></textarea><select><option>1<option>2</select>", "<b>x</b>\n1\n2"},
		{"broken markup", "<p <b>a</b <div>c< d <3 >", "ac< d <3 >"},
		{"xml declaration, cdata", "<?xml version='1.0'?><html><![CDATA[x]]>y</html>", "y"},
		{"upper case", "<P>a</P><SCRIPT>b</SCRIPT><BR>c", "a\nc"},
		{"frames and objects", "a<iframe>b</iframe><object>c</object>d", "ad"},
		{"white space alone", " \n<p> </p>\t<div>\n</div> ", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := pageOf(t, c.page)
			if doc.Text != c.want || doc.Repaired != 0 {
				t.Errorf("%q\n got %+v\nwant %q", c.page, doc, c.want)
			}
		})
	}
}

// encode returns a text in an encoding.
func encode(t *testing.T, name, text string) string {
	t.Helper()
	e, err := htmlindex.Get(name)
	must.Do(t, err)
	raw, err := e.NewEncoder().String(text)
	must.Do(t, err)
	return raw
}

func TestHTMLEncodings(t *testing.T) {
	const simplified, japan = "灯塔看守人每天晚上记录天气", "灯台守は毎晩、天気を書き留める"
	page := func(head, text string) string { return "<html><head>" + head + "</head><p>" + text + "</p></html>" }
	meta := func(name string) string { return `<meta charset="` + name + `">` }
	for _, c := range []struct{ name, raw, want string }{
		{"utf-8, declared", page(meta("utf-8"), simplified), simplified},
		{"utf-8, not declared", page("", simplified), simplified},
		{"utf-8 with a mark", "\xef\xbb\xbf" + page("", simplified), simplified},
		{"utf-8, declared as something else", page(meta("gbk"), simplified), simplified},
		{"gb2312 in http-equiv", encode(t, "gbk",
			page(`<meta http-equiv="Content-Type" content="text/html; charset=gb2312">`, simplified)), simplified},
		{"iso-2022-jp", encode(t, "iso-2022-jp", page(meta("iso-2022-jp"), japan)), japan},
		{"utf-16 with a mark", encode(t, "utf-16le", "\ufeff"+page("", simplified)), simplified},
		{"utf-16be with a mark", encode(t, "utf-16be", "\ufeff"+page("", simplified)), simplified},
		{"gbk, not declared", encode(t, "gbk", page("", simplified+"，ABC。")), simplified + "，ABC。"},
		{"windows-1252 with much beyond ascii, not declared", page("", strings.Repeat("\xe9t\xe9 \xe0 No\xebl ", 20)),
			strings.Repeat("été à Noël ", 19) + "été à Noël"},
		{"windows-1252, not declared", page("", "caf\xe9 \x93x\x94"), "café “x”"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if doc := pageOf(t, c.raw); doc.Text != c.want || doc.Repaired != 0 {
				t.Errorf("got %q, %d repaired, want %q", doc.Text, doc.Repaired, c.want)
			}
		})
	}
	for head, text := range map[string]string{meta("utf-8"): simplified, "": strings.Repeat(simplified, 3)} {
		damaged := pageOf(t, page(head, text+"\xe4\xb8"))
		if damaged.Text != text+"\ufffd" || damaged.Repaired != 1 {
			t.Errorf("damaged, declared by %q: %q, %d repaired", head, damaged.Text, damaged.Repaired)
		}
	}
}

// TestEncodingsByBytes decodes texts in every encoding that can be guessed, as pages and as plain text, without a
// declaration and with a wrong one.
func TestEncodingsByBytes(t *testing.T) {
	const (
		simplified  = "灯塔看守人每天晚上记录天气。他说，今年的海比去年冷，船也少了，但是我们还在这里等他们回来。"
		traditional = "燈塔看守人每天晚上記錄天氣。他說，今年的海比去年冷，船也少了，但是我們還在這裡等他們回來。"
		japan       = "灯台守は毎晩、天気を書き留める。今年の海は去年より冷たくて、船も少なくなったと言った。"
		korea       = "등대지기는 매일 저녁 날씨를 기록한다. 올해 바다는 작년보다 차갑고 배도 적어졌다고 그는 말했다."
		russia      = "Смотритель маяка каждый вечер записывает погоду. В этом году море холоднее, чем в прошлом."
		greece      = "Ο φαροφύλακας γράφει κάθε βράδυ τον καιρό. Φέτος η θάλασσα είναι πιο κρύα από πέρσι."
	)
	for name, text := range map[string]string{"gbk": simplified, "gb18030": simplified + "𠀀", "big5": traditional,
		"shift_jis": japan, "euc-jp": japan, "euc-kr": korea, "windows-1251": russia, "koi8-r": russia,
		"windows-1253": greece} {
		raw := encode(t, name, text)
		for _, declared := range []string{"", "gbk", "big5", "shift_jis", "euc-kr", "iso-8859-1", "utf-8", "windows-1251"} {
			if declared == "windows-1251" && name == "windows-1253" {
				continue // the frequency of these letters shows no charset: the declared one is used
			}
			head := ""
			if declared != "" {
				head = `<meta charset="` + declared + `">`
			}
			if doc := pageOf(t, "<html><head>"+head+"</head><p>"+raw+"</p></html>"); doc.Text != text {
				t.Errorf("%s declared as %q: %.60q", name, declared, doc.Text)
			}
		}
		if doc := decoded(t, raw, Declaration{}); doc.Text != text {
			t.Errorf("%s as plain text: %.60q", name, doc.Text)
		}
	}
	// If the bytes show no charset, the declared one is used.
	for _, c := range []struct{ declared, raw, want string }{{"windows-1250",
		"za\xbf\xf3\xb3\xe6 g\xea\x9cl\xb9 ja\x9f\xf1", "zażółć gęślą jaźń"},
		{"iso-8859-9", "\xfd\xfe\xf0 T\xfcrk\xe7e", "ışğ Türkçe"}, {"windows-1252", strings.Repeat("\xe9t\xe9 ", 30),
			strings.TrimSpace(strings.Repeat("été ", 30))}} {
		if doc := pageOf(t, `<html><meta charset="`+c.declared+`"><p>`+c.raw); doc.Text != c.want {
			t.Errorf("%s: %q, want %q", c.declared, doc.Text, c.want)
		}
	}
}

func TestTextEncodings(t *testing.T) {
	const chinese = "灯塔看守人每天晚上记录天气，ndd 也记录。\n"
	for _, c := range []struct {
		name, raw, want string
		repaired        int
	}{
		{"utf-8", chinese, chinese, 0},
		{"utf-8 with a mark", "\xef\xbb\xbf" + chinese, chinese, 0},
		{"utf-16 with a mark", encode(t, "utf-16be", "\ufeff"+chinese), chinese, 0},
		{"gbk, too short to tell", encode(t, "gbk", chinese)[:8], "µÆËþ¿´ÊØ", 0},
		{"damaged utf-8", "a\xff\xffb" + chinese + "\xe4", "a\ufffdb" + chinese + "\ufffd", 2},
		{"latin letters alone", strings.Repeat("\xe9t\xe9 ", 20), strings.Repeat("été ", 20), 0},
	} {
		doc := decoded(t, c.raw, Declaration{})
		if doc.Text != c.want || doc.Repaired != c.repaired {
			t.Errorf("%s: %q, %d repaired", c.name, doc.Text, doc.Repaired)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, page := range []string{"<p>a</p>", "<svg><p>", "<template><template>", "<pre>\n</pre>",
		"\xff<meta charset=gbk>\x81\x81", "\xfe\xff\x00<", "<script>"} {
		f.Add([]byte(page))
	}
	var d Decoder
	f.Fuzz(func(t *testing.T, raw []byte) {
		kept := string(raw)
		doc, err := d.Decode(t.Context(), raw, Declaration{Kind: Page})
		if err != nil || !utf8.ValidString(doc.Text) {
			t.Fatalf("%q, %v", doc.Text, err)
		}
		if string(raw) != kept {
			t.Fatal("the bytes were written to")
		}
		if strings.TrimRight(doc.Text, " \n") != doc.Text || strings.Contains(doc.Text, "\n\n") || strings.Contains(doc.Text,
			"  ") {
			t.Fatalf("white space is not folded: %q", doc.Text)
		}
		if again := pageOf(t, kept); again != doc {
			t.Fatalf("%+v with a history, %+v without", doc, again)
		}
	})
}

// TestDeclaredCharsets checks that a text is read in its declared charset, even if its letters look unusual in it.
// Without a declaration a charset is guessed, the text has no U+FFFD, and the guess is reported.
func TestDeclaredCharsets(t *testing.T) {
	const (
		hebrew  = "שומר המגדלור רושם כל ערב את מזג האוויר. השנה הים קר יותר מאשר בשנה שעברה, והאוניות מעטות."
		ukraine = "Доглядач маяка щовечора записує погоду. Цього року море холодніше, ніж торік, і їх менше."
		arabic  = "حارس المنارة يسجل الطقس كل مساء. البحر هذا العام أبرد من العام الماضي."
		thai    = "ผู้ดูแลประภาคารจดบันทึกสภาพอากาศทุกเย็น ปีนี้ทะเลเย็นกว่าปีที่แล้ว"
		turkish = "Deniz feneri bekçisi her akşam havayı yazıyor. Bu yıl deniz geçen yıldan daha soğuk, gemiler ağır."
		polish  = "Latarnik co wieczór zapisuje pogodę. W tym roku morze jest zimniejsze niż w zeszłym, łódź źle śpi."
		french  = "Le gardien du phare note chaque soir la météo. Cette année la mer est plus froide, où ça gèle déjà."
		capital = "СМОТРИТЕЛЬ МАЯКА КАЖДЫЙ ВЕЧЕР ЗАПИСЫВАЕТ ПОГОДУ"
		greek   = "Ο ΦΑΡΟΦΥΛΑΚΑΣ ΓΡΑΦΕΙ ΚΑΘΕ ΒΡΑΔΥ ΤΟΝ ΚΑΙΡΟ"
		lesson  = "第五课 平假名：あいうえお かきくけこ さしすせそ たちつてと なにぬねの。跟读三遍，然后默写。"
		few     = "ЩУКА ЖУЁТ"
	)
	for name, text := range map[string]string{"windows-1255": hebrew, "iso-8859-8-i": hebrew, "koi8-u": ukraine,
		"x-mac-cyrillic": ukraine, "windows-1251": ukraine, "windows-1256": arabic, "tis-620": thai, "windows-1254": turkish,
		"windows-1250": polish, "iso-8859-2": polish, "ibm866": strings.ReplaceAll(ukraine, "і", "i"), "windows-1252": french,
		"cp1251": capital, "koi8-r": capital, "koi8": strings.ToLower(capital), "windows-1253": greek, "gb2312": lesson,
		"x-cp1251": few} {
		raw := encode(t, name, text)
		for what, c := range map[string]struct {
			raw string
			Declaration
		}{"text": {raw, Declaration{ContentType: "text/plain; charset=" + name}},
			"page": {"<p>" + raw, Declaration{Kind: Page, ContentType: "text/html; charset=" + name}},
			"meta": {"<meta charset=" + name + "><p>" + raw, Declaration{Kind: Page}},
			"none": {raw, Declaration{}}, "page, none": {"<p>" + raw, Declaration{Kind: Page}}} {
			doc := decoded(t, c.raw, c.Declaration)
			declared := !strings.Contains(what, "none")
			if declared != (doc.Charset == "") || declared && doc.Text != text ||
				strings.Contains(doc.Text, "\ufffd") != (doc.Repaired > 0) {
				t.Errorf("%s, %s: %q, charset %q", name, what, doc.Text, doc.Charset)
			}
		}
	}
}

// TestUnknownCharset checks that an unknown encoding is reported if the bytes leave a doubt, and only then.
func TestUnknownCharset(t *testing.T) {
	const latin = "caf\xe9 cr\xe8me, na\xefve"
	for _, c := range []struct {
		name, raw, contentType string
		kind                   Kind
		want                   string
	}{
		{"by type", latin, "text/plain; charset=foo", Plain, "foo"},
		{"of ASCII", "coffee", "text/plain; charset=foo", Plain, ""},
		{"of valid UTF-8", "caf\u00e9", "text/plain; charset=utf8mb4", Plain, ""},
		{"known", latin, "text/plain; charset=ISO-8859-1", Plain, ""},
		{"none", latin, "text/plain", Plain, "none"},
		{"broken type", latin, "text/plain; charset", Plain, "none"},
		{"meta", "<meta charset=x-foo><p>" + latin, "", Page, "x-foo"},
		{"meta, quoted", "<html><META name=a><meta CHARSET = 'x-foo' ><p>" + latin, "", Page, "x-foo"},
		{"http-equiv", "<meta http-equiv=content-type content=\"text/html; charset=x-foo\"><p>" + latin, "", Page, "x-foo"},
		{"type before meta", "<meta charset=x-foo><p>" + latin, "text/html; charset=windows-1252", Page, ""},
		{"not UTF-8", latin, "text/plain; charset=utf-8", Plain, "utf-8"},
		{"damaged UTF-8", "caf\u00e9 cr\u00e8me na\xefve", "text/plain", Plain, ""},
		{"UTF-16", "\xff\xfea\x00\xe9\x00", "text/plain", Plain, ""},
		{"known meta", "<meta charset=windows-1252><p>" + latin, "", Page, ""},
		{"no meta", "<p charset=x-foo>" + latin, "", Page, "none"},
		{"meta without value", "<meta charset><meta charset=>" + latin, "", Page, "none"},
		{"long", "<meta charset=" + strings.Repeat("x", 100) + ">" + latin, "", Page, strings.Repeat("x", 40)},
	} {
		if doc := decoded(t, c.raw, Declaration{Kind: c.kind, ContentType: c.contentType}); doc.Charset != c.want {
			t.Errorf("%s: %q, want %q", c.name, doc.Charset, c.want)
		}
	}
}

// TestMainText checks the extracted text of pages with a marked main part, and of pages without one.
func TestMainText(t *testing.T) {
	long := strings.Repeat("The lighthouse keeper writes down the weather every evening before his supper gets cold. ", 3)
	text := strings.TrimSpace(long)
	for _, c := range []struct{ name, page, main, auto string }{
		{"main", "<nav>Home</nav><main><h1>T</h1>" + long + "<aside>ad</aside></main><footer>c</footer>", "T\n" + text,
			"T\n" + text},
		{"article with a header of its own", "<header>Site</header><article><header>Title</header><p>" + long +
			"</article><div>more</div>", "Title\n" + text, "Title\n" + text},
		{"role, in nested divs", "<div class=nav>Home</div><div role=main><div>" + long +
			"</div><div class='toc'>1 2</div>end</div>after", text + "\nend", text + "\nend"},
		{"not marked: lines of links go", "<div><a href=1>One</a> <a href=2>Two</a></div><p>" + long +
			"</p><p>see <a href=3>this</a> text of some length</p>", text + "\nsee this text of some length", text +
			"\nsee this text of some length"},
		{"class of several names", "<div class='has-sidebar x'><p>" + long + "</div><ul class='x sidebar'><li>a</ul>", text,
			text},
		{"hardly any", "<nav>Home page of a very short story</nav><main>Short.</main>", "Short.",
			"Home page of a very short story\nShort."},
		{"none at all", "<nav>Home</nav>", "Home", "Home"},
		{"elements that are not closed", "<main><p>" + long + "<div>" + "more", text + "\nmore", text + "\nmore"},
	} {
		for how, want := range map[Extraction]string{ExtractMain: c.main, ExtractAuto: c.auto} {
			if doc := decoded(t, c.page, Declaration{Kind: Page, Extraction: how}); doc.Text != want {
				t.Errorf("%s, %s: %q, want %q", c.name, how, doc.Text, want)
			}
		}
	}
}

// FuzzMainText checks that no page makes it panic; the main text has no word that the whole text lacks.
func FuzzMainText(f *testing.F) {
	f.Add("<nav><a>x</a></nav><main>a<aside>b</main></aside><div role=main>c</div></div></main>")
	f.Fuzz(func(t *testing.T, page string) {
		text := func(how Extraction) string { return decoded(t, page, Declaration{Kind: Page, Extraction: how}).Text }
		all := text(ExtractAll)
		for _, how := range []Extraction{ExtractMain, ExtractAuto} {
			got := text(how)
			if len(got) > len(all) || got == "" && strings.TrimSpace(all) != "" {
				t.Errorf("%s: %q of %q", how, got, all)
			}
		}
	})
}
