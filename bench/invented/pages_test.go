package invented

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/text"
	"example.org/ndd/engine/oracle/must"
)

// page returns a page of a site: an article, or a stub of a line or two, in a template. Template 0 has a menu and a
// footer that only their classes mark. Template 1 marks its main part, and template 2 marks nothing.
func (a *author) page(template int, title, text string) string {
	r := rand.New(rand.NewPCG(uint64(template), 4)) // the site's own words
	site := *a
	site.random = r
	var menu strings.Builder
	for range 40 {
		fmt.Fprintf(&menu, "<li><a href='/%d'>%s</a></li>", r.IntN(1000), strings.Join(site.words(2), a.separator))
	}
	footer := strings.Join(site.words(40), a.separator)
	body := "<h1>" + title + "</h1><p>" + strings.ReplaceAll(text, "\n\n", "</p><p>") + "</p>"
	return fmt.Sprintf([]string{
		"<div class='sphinxsidebar'><ul>%s</ul></div><div class='body'>%s</div><div class='footer'>%s</div>",
		"<header><nav><ul>%s</ul></nav></header><main>%s</main><footer>%s</footer>",
		"<table><tr><td><ul>%s</ul></td><td>%s</td></tr></table><p>%s</p>",
	}[template], menu.String(), body, footer)
}

// TestPages checks that with the main text, versions of pages with a changed template are near, and pages of one
// template are not. All pages whose whole text has 8 features have a fingerprint.
func TestPages(t *testing.T) {
	found := map[text.Extraction]map[string]int{ // by class
		text.ExtractAll: {}, text.ExtractMain: {}, text.ExtractAuto: {}}
	none := map[text.Extraction]int{}
	of := map[string]int{}
	printer, err := simhash.New(simhash.Default())
	must.Do(t, err)
	var decoder text.Decoder
	count := func(class, one, other string) {
		of[class]++
		for how := range found {
			declared := text.Declaration{Kind: text.Page, Extraction: how}
			oneText, err := decoder.Decode(t.Context(), []byte(one), declared)
			must.Do(t, err)
			otherText, err := decoder.Decode(t.Context(), []byte(other), declared)
			must.Do(t, err)
			a, _, okA := printer.Fingerprint(oneText.Text)
			b, _, okB := printer.Fingerprint(otherText.Text)
			if !okA || !okB {
				none[how]++
			} else if bits.OnesCount64(uint64(a^b)) <= 3 {
				found[how][class]++
			}
		}
	}
	english := newVocabulary(&languages[0])
	for i := range languages {
		v := newVocabulary(&languages[i])
		r := rand.New(rand.NewPCG(30, 4))
		for i := range 60 {
			a := newAuthor(v, english, r)
			article := a.text(150 << r.IntN(3))
			title := strings.Join(a.words(4), a.separator)
			template := i % 3
			page := a.page(template, title, a.write(article))
			count("versions under another template", page, a.page((template+1)%3, title,
				a.write(a.edit(article, byWord, 0.95))))
			count("articles under one template", page, a.page(template, strings.Join(a.words(4), a.separator),
				a.write(a.text(150<<r.IntN(3)))))
			stub := func() string {
				name := strings.Join(a.words(2), a.separator)
				return a.page(template, name, strings.Join(a.words(1+r.IntN(24)), a.separator)+" "+name)
			}
			count("stubs under one template", stub(), stub())
		}
	}
	t.Logf("of %v pairs found: %v, without fingerprints: %v", of, found, none)
	const versions, stubs = "versions under another template", "stubs under one template"
	auto := found["auto"]
	if none["auto"] > 0 || auto["articles under one template"] > 0 || auto[versions] < found["main"][versions] ||
		auto[versions] < 140 || 2*auto[stubs] > found["all"][stubs] {
		t.Errorf("%v, %v", found, none)
	}
}
