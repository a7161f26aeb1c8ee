package eval

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"text/tabwriter"
)

// A CopyResult is what a way of finding copies reports of the invented documents of
// [InventedCopies] in one language: of a class, or with [AllClasses] of all.
type CopyResult struct {
	Method   string `json:"method"`
	Language string `json:"language"`
	Class    string `json:"class"`
	Pairs    int    `json:"pairs"`   // of the class
	Found    int    `json:"found"`   // of them
	Related  int    `json:"related"` // of these: with the class's relation
	// Of all classes: the pairs reported, and those of documents that have an article in common; of
	// those that are flagged, the same.
	Reported     int `json:"reported,omitempty"`
	Right        int `json:"right,omitempty"`
	Flagged      int `json:"flagged,omitempty"`
	FlaggedRight int `json:"flagged_right,omitempty"`
}

// A CopyPair is a pair of documents that is reported: of which the first contains the second, or
// the other way round, or neither does.
type CopyPair struct {
	A, B                uint32
	Contains, Contained bool
	Flagged             bool
}

// copyClasses are the classes of copies: versions of an article, excerpts of 30 to 80 % of one,
// digests of three to six, and versions of a statute. Of all but versions the first contains the
// second.
var copyClasses = []string{"revised", "excerpts", "digests", "statutes"}

// InventedCopies returns invented documents of a language, with the pairs that are copies by their
// making, a hundred of most classes: articles with versions, excerpts and digests of them; and
// statutes, a third of whose text are clauses that many of them have, with versions of one in four,
// and notices of a few sentences or a long one, all of which end with the same words.
func InventedCopies(name string, hundred int, seed uint64) (texts []string, labels map[[2]uint32]string, err error) {
	v, err := vocabularyOf(name)
	if err != nil {
		return nil, nil, err
	}
	r := rand.New(rand.NewPCG(seed, 31))
	labels = map[[2]uint32]string{}
	english := newVocabulary(&languages[0])
	var a *author
	add := func(t prose) uint32 {
		texts = append(texts, a.written(t))
		return uint32(len(texts) - 1)
	}
	article := func() prose {
		a = newAuthor(v, english, r)
		return a.text(200 << r.IntN(3))
	}
	units := []string{byWord, bySentence}
	for range hundred {
		t := article()
		whole := add(t)
		labels[[2]uint32{whole, add(a.edit(t, units[r.IntN(2)], 0.6+0.4*r.Float64()))}] = "revised"
		t = article()
		whole = add(t)
		labels[[2]uint32{whole, add(a.excerpt(t, 0.3+0.5*r.Float64()))}] = "excerpts"
	}
	for range hundred / 4 {
		var parts []uint32
		var digest prose
		for range 3 + r.IntN(4) {
			t := article()
			parts, digest = append(parts, add(t)), append(append(digest, [][]string{a.sentence()}), t...)
		}
		whole := add(digest)
		for _, part := range parts {
			labels[[2]uint32{whole, part}] = "digests"
		}
	}
	article()
	last, clauses := a.sentence(), a.text(600)
	for i := range hundred {
		t := article()
		for range 1 + len(t)/2 {
			t = slices.Insert(t, r.IntN(len(t)+1), clauses[r.IntN(len(clauses))])
		}
		t = append(t, [][]string{last})
		whole := add(t)
		if i%4 == 0 {
			labels[[2]uint32{whole, add(a.edit(t, bySentence, 0.8))}] = "statutes"
		}
		notice := prose{{last}}
		for range 2 + r.IntN(4) {
			notice[0] = append([][]string{a.sentence()}, notice[0]...)
		}
		if i%2 == 0 { // as one sentence
			notice = prose{{slices.Concat(notice[0]...)}}
		}
		add(notice)
	}
	return texts, labels, nil
}

// excerpt returns sentences of a text that follow each other, and have at least a share of its words.
func (a *author) excerpt(t prose, share float64) prose {
	var all [][]string
	words := 0
	for _, s := range slices.Concat(t...) {
		all, words = append(all, s), words+len(s)
	}
	last := 0 // sentence that an excerpt may begin with
	for rest := words - len(all[0]); float64(rest) >= share*float64(words); last++ {
		rest -= len(all[last+1])
	}
	all = all[a.random.IntN(last+1):]
	n := 0
	for have := 0; n < len(all) && float64(have) < share*float64(words); n++ {
		have += len(all[n])
	}
	return prose{all[:n]}
}

// MeasureCopies returns what find reports of the invented documents of languages, by class; hundred
// is the number of pairs in most classes.
func MeasureCopies(names []string, hundred int, method string,
	find func(texts []string) ([]CopyPair, error)) (all []CopyResult, err error) {
	for _, name := range names {
		texts, labels, err := InventedCopies(name, hundred, 1)
		if err != nil {
			return nil, err
		}
		pairs, err := find(texts)
		if err != nil {
			return nil, err
		}
		rows := []CopyResult{{Class: AllClasses, Pairs: len(labels)}}
		at := map[string]int{}
		for i, class := range copyClasses {
			rows, at[class] = append(rows, CopyResult{Class: class}), i+1
		}
		for _, class := range labels {
			rows[at[class]].Pairs++
		}
		total := &rows[0]
		for _, p := range pairs {
			class, right := labels[[2]uint32{p.A, p.B}]
			contains := p.Contains
			if !right {
				class, right = labels[[2]uint32{p.B, p.A}]
				contains = p.Contained
			}
			total.Reported++
			if p.Flagged {
				total.Flagged++
			}
			if !right {
				continue
			}
			total.Right++
			if p.Flagged {
				total.FlaggedRight++
			}
			for _, row := range []*CopyResult{total, &rows[at[class]]} {
				row.Found++
				if contains == (class == "excerpts" || class == "digests") {
					row.Related++
				}
			}
		}
		for i := range rows {
			rows[i].Method, rows[i].Language = method, name
		}
		all = append(all, rows...)
	}
	return all, nil
}

// WriteCopies writes results as a table for a terminal, in percent.
func WriteCopies(w io.Writer, all []CopyResult) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "method\tlanguage\tclass\tpairs\tfound\tof the relation\treported\tright\tflagged\tright\n")
	share := func(part, of int) string {
		if of == 0 {
			return "-"
		}
		return fmt.Sprintf("%.1f", 100*float64(part)/float64(of))
	}
	for _, r := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s", r.Method, r.Language, r.Class, r.Pairs, share(r.Found, r.Pairs),
			share(r.Related, r.Found))
		if r.Class == AllClasses {
			fmt.Fprintf(t, "\t%d\t%s\t%d\t%s", r.Reported, share(r.Right, r.Reported), r.Flagged,
				share(r.FlaggedRight, r.Flagged))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
