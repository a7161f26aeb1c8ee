package dedup

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

const syllables = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu"

// A templatePage is a page under construction. Its template's words come from fixed, its own from own.
type templatePage struct {
	fixed, own *rand.Rand
	share      float64 // of the words that are its own
	text       strings.Builder
}

// newTemplatePage returns a page of a site's template, made from the numbers of both alone: references of
// functions, product pages and forms. What a page says for itself is from a fiftieth to two thirds of it, by
// its template.
func newTemplatePage(template, number int) string {
	p := templatePage{fixed: rand.New(rand.NewPCG(uint64(template), 1)),
		own: rand.New(rand.NewPCG(uint64(template), uint64(number)+2))}
	p.share = 0.02 + 0.64*p.fixed.Float64()
	switch template % 3 {
	case 0:
		p.reference()
	case 1:
		p.product()
	default:
		p.form()
	}
	return p.text.String()
}

// templateWord returns one of some thousand words, the first ones more often.
func templateWord(rng *rand.Rand) string {
	all := strings.Fields(syllables)
	n := int(4000 * rng.Float64() * rng.Float64())
	return all[n%20] + all[n/20%20] + all[n/400]
}

// words writes some words; each is the page's own or the template's.
func (p *templatePage) words(n int) {
	for range n {
		rng, fixed := p.own, templateWord(p.fixed)
		if p.fixed.Float64() >= p.share {
			p.text.WriteString(fixed)
		} else {
			p.text.WriteString(templateWord(rng))
		}
		p.text.WriteByte(' ')
	}
}

func (p *templatePage) name() string { return templateWord(p.own) + "_" + templateWord(p.own) }

func (p *templatePage) reference() {
	name := p.name()
	fmt.Fprintf(&p.text, "Package %s Reference\nfunc %s(%s int, %s []byte) (%s, error)\n", templateWord(p.fixed), name,
		templateWord(p.own), templateWord(p.own), templateWord(p.own))
	for range 4 + p.fixed.IntN(8) {
		fmt.Fprintf(&p.text, "%s returns the ", name)
		p.words(8 + p.fixed.IntN(12))
		p.text.WriteString(". It is an error if the argument is nil.\n")
	}
	p.text.WriteString("See also: Index of functions, Examples, Source files, Subdirectories. " +
		"Last updated by the editors.")
}

func (p *templatePage) product() {
	fmt.Fprintf(&p.text, "%s %s\nPrice: %d.%02d, in stock: %d. Delivery in %d days.\n", templateWord(p.own), templateWord(p.fixed),
		p.own.IntN(1000), p.own.IntN(100), p.own.IntN(50), 1+p.own.IntN(9))
	for range 3 + p.fixed.IntN(6) {
		p.words(12 + p.fixed.IntN(20))
		p.text.WriteString("\n")
	}
	p.text.WriteString("Returns are free within thirty days. Customers who bought this also looked at the items below. " +
		"Sign in to write a review, or ask a question about this item.")
}

func (p *templatePage) form() {
	fmt.Fprintf(&p.text, "Application %06d to the office of %s\n", p.own.IntN(1e6), templateWord(p.fixed))
	for i := range 10 + p.fixed.IntN(12) {
		fmt.Fprintf(&p.text, "%d. Please state your %s %s: ", i+1, templateWord(p.fixed), templateWord(p.fixed))
		p.words(4 + p.fixed.IntN(8))
		p.text.WriteString("\n")
	}
	p.text.WriteString("I declare that what is stated above is complete and true. " +
		"Place, date, signature of the applicant.")
}
