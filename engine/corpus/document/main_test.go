package document

import (
	"strings"
	"testing"

	"ndd/engine/oracle/must"
)

// TestMainText: what is taken of pages that mark their main part, and of those that do not.
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
		for how, want := range map[Extract]string{ExtractMain: c.main, ExtractAuto: c.auto} {
			doc, err := NewExtractor(Options{Extract: how}).Extract(Unit{format: HTML, raw: []byte(c.page)})
			if err != nil || doc.Text != want {
				t.Errorf("%s, %s: %q, want %q, %v", c.name, how, doc.Text, want, err)
			}
		}
	}
}

// FuzzMainText: no page makes it panic; the main text has no word that the whole text lacks.
func FuzzMainText(f *testing.F) {
	f.Add("<nav><a>x</a></nav><main>a<aside>b</main></aside><div role=main>c</div></div></main>")
	f.Fuzz(func(t *testing.T, page string) {
		text := func(how Extract) string {
			doc, err := NewExtractor(Options{Extract: how}).Extract(Unit{format: HTML, raw: []byte(page)})
			must.Do(t, err)
			return doc.Text
		}
		all := text(ExtractAll)
		for _, how := range []Extract{ExtractMain, ExtractAuto} {
			got := text(how)
			if len(got) > len(all) || got == "" && strings.TrimSpace(all) != "" {
				t.Errorf("%s: %q of %q", how, got, all)
			}
		}
	})
}
