package invented

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// lookAlikes are the kinds of pairs that share a template and differ in its values. They are not near-duplicates.
var lookAlikes = []struct {
	name string
	pair func(*author) (a, b string)
}{
	{"other numbers", (*author).bulletin}, {"other names", (*author).letter}, {"code", (*author).code},
	{"tables", (*author).tables}, {"lists", (*author).lists}, {"forms", (*author).forms},
}

// twice calls write twice, with the same words and different values.
func (a *author) twice(write func(words, values *author) string) (string, string) {
	seed := a.random.Uint64()
	once := func() string {
		words := *a
		words.random = rand.New(rand.NewPCG(seed, 0))
		words.numbers = 0
		return write(&words, a)
	}
	return once(), once()
}

// bulletin returns two reports that differ in their numbers.
func (a *author) bulletin() (string, string) {
	return a.twice(func(words, values *author) string {
		share := 0.06 + 0.2*words.random.Float64()
		t := words.text(60 << words.random.IntN(3))
		for _, p := range t {
			for _, s := range p {
				for i := range s {
					if words.random.Float64() < share {
						s[i] = values.number()
					}
				}
			}
		}
		return a.write(t)
	})
}

// letter returns two letters that differ in the names.
func (a *author) letter() (string, string) {
	return a.twice(func(words, values *author) string {
		var names [8]string
		for i := range names {
			names[i] = zipf(values.random, a.stems, 2000) + a.separator + zipf(values.random, a.stems, 2000)
		}
		t := words.text(60 << words.random.IntN(3))
		for _, p := range t {
			for _, s := range p {
				for range 1 + len(s)/12 {
					s[words.random.IntN(len(s))] = names[words.random.IntN(len(names))]
				}
			}
		}
		return a.write(t)
	})
}

// code returns two source files with comments in the language that differ in their values. Half of the files are
// lists of constants that count up, with different gaps.
func (a *author) code() (string, string) {
	return a.twice(func(words, values *author) string {
		var b strings.Builder
		name := func() string { return zipf(words.random, a.english.stems, 50) }
		constants, value := words.random.IntN(2) == 0, 0
		for range 30 + words.random.IntN(100) {
			switch n := words.random.IntN(10); {
			case n == 0:
				fmt.Fprintf(&b, "// %s\n", strings.Join(words.words(8), a.separator))
			case constants:
				fmt.Fprintf(&b, "\t%s_%s = %d\n", strings.ToUpper(name()), strings.ToUpper(name()), value)
				value += 1 + values.random.IntN(3)/2*values.random.IntN(4)
			case n < 4:
				fmt.Fprintf(&b, "\t%s.%s = %s;\n", name(), name(), values.number())
			case n < 7:
				fmt.Fprintf(&b, "\tif (%s > %s) return %s;\n", name(), values.number(), values.number())
			default:
				fmt.Fprintf(&b, "\t%s(&%s, 0x%x, %s);\n", name(), name(), values.random.IntN(1<<16), values.number())
			}
		}
		return b.String()
	})
}

// tables returns two tables with different numbers.
func (a *author) tables() (string, string) {
	return a.twice(func(words, values *author) string {
		var b strings.Builder
		columns := 2 + words.random.IntN(5)
		b.WriteString(strings.Join(words.words(columns+1), "\t"))
		for range 10 + words.random.IntN(40) {
			b.WriteString("\n" + strings.Join(words.words(1+words.random.IntN(3)), a.separator))
			for range columns {
				b.WriteString("\t" + values.number())
			}
		}
		return b.String()
	})
}

// lists returns two lists in different order, each with 40 of the same 50 entries.
func (a *author) lists() (string, string) {
	return a.twice(func(words, values *author) string {
		var entries []string
		for range 50 {
			entries = append(entries, strings.Join(words.words(1+words.random.IntN(3)), a.separator))
		}
		values.random.Shuffle(50, func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		return "- " + strings.Join(entries[:40], "\n- ")
	})
}

// forms returns two forms with the same labels and different values.
func (a *author) forms() (string, string) {
	return a.twice(func(words, values *author) string {
		var b strings.Builder
		for range 15 + words.random.IntN(25) {
			label := strings.Join(words.words(1+words.random.IntN(4)), a.separator)
			value := values.number()
			if words.random.IntN(3) > 0 {
				value = strings.Join(values.words(1+values.random.IntN(3)), a.separator)
			}
			fmt.Fprintf(&b, "%s: %s\n", label, value)
		}
		return b.String()
	})
}
