package winnow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/copies/signature"
	"example.org/ndd/engine/corpus/token"
	"example.org/ndd/engine/near/shingle"
)

func selector(t testing.TB, s *Selector) signature.Selector {
	return signature.NewReader(t.Context()).Selector(s)
}

// allRows returns all rows of a text, with the given numbers of words or characters.
func allRows(text string, words, chars int) (rows []signature.Signature) {
	scanner, err := token.NewScanner(token.Options{})
	if err != nil {
		panic(err)
	}
	type tok struct {
		token.Token
		hash uint64
	}
	var tokens []tok
	scanner.Scan(text, func(batch []token.Token) {
		for i := range batch {
			tokens = append(tokens, tok{batch[i], signature.Key.Hash(scanner, &batch[i])})
		}
	})
	for i := 0; i < len(tokens); { // a few words next to characters count as characters
		j := i
		for j < len(tokens) && (tokens[j].Kind == token.Char) == (tokens[i].Kind == token.Char) {
			j++
		}
		for k := i; k < j && j-i < words && j-i < len(tokens); k++ {
			tokens[k].Kind = token.Char
		}
		i = j
	}
	for i := 0; i < len(tokens); {
		j := i
		for j < len(tokens) && (tokens[j].Kind == token.Char) == (tokens[i].Kind == token.Char) {
			j++
		}
		n := words
		if tokens[i].Kind == token.Char {
			n = chars
		}
		n = min(n, j-i)
		for offset := i; offset+n <= j; offset++ {
			h := uint64(0)
			for _, t := range tokens[offset : offset+n] {
				h = h*0x9e3779b97f4a7c15 + t.hash
			}
			rows = append(rows, signature.Signature{Hash: signature.Fold(0, h), Start: int32(tokens[offset].Start),
				End: int32(tokens[offset+n-1].End)})
		}
		i = j
	}
	return rows
}

// specification implements winnowing as the paper describes it: the minimum of every window, the rightmost of equal
// ones, each recorded once.
func specification(text string) (all []signature.Signature) {
	rows := allRows(text, 5, 8)
	last := -1
	for from := 0; from == 0 || from+16 <= len(rows); from++ {
		window := rows[from:min(from+16, len(rows))]
		minimum := -1
		for i := range window {
			if minimum < 0 || window[i].Hash <= window[minimum].Hash {
				minimum = i
			}
		}
		if minimum >= 0 && from+minimum != last {
			last = from + minimum
			all = append(all, rows[last])
		}
	}
	return all
}

func randomText(random *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		if random.IntN(40) == 0 {
			for range random.IntN(30) {
				b.WriteRune(rune(0x4e00 + random.IntN(50)))
			}
		}
		if random.IntN(40) == 0 {
			for range random.IntN(12) {
				fmt.Fprintf(&b, "%c %d", 0x4e00+random.IntN(50), random.IntN(9))
			}
		}
		fmt.Fprintf(&b, " w%d", random.IntN(30))
	}
	return b.String()
}

// TestSpecification checks that the queue selects the same hashes as a search of every whole window.
func TestSpecification(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s := selector(t, New())
	for i := range 600 {
		n := i % 60
		if i%50 == 0 {
			n = 10_000 // longer than the tokens that are held at a time
		}
		text := randomText(random, n)
		if got, want := signature.Append(nil, s, text), specification(text); !slices.Equal(got, want) {
			t.Fatalf("%d words: %d features, want %d\n%.300v\n%.300v", n, len(got), len(want), fmt.Sprint(got), fmt.Sprint(want))
		}
	}
}

// TestAll checks that a Selector of all rows selects each row of any length.
func TestAll(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 2, 3, 4, 20, 60, 5000} {
		for _, lengths := range [][2]int{{3, 5}, {1, 1}, {5, 8}} {
			text := randomText(random, n)
			got, want := signature.Append(nil, selector(t, NewAll(lengths[0], lengths[1])), text), allRows(text, lengths[0], lengths[1])
			if !slices.Equal(got, want) {
				t.Fatalf("%d words, rows of %v: %d, want %d", n, lengths, len(got), len(want))
			}
		}
	}
}

// TestGuarantee checks that two texts that share a passage of Words + Window - 1 words have a common feature.
func TestGuarantee(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	words := func(prefix string, n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "%s%d ", prefix, random.IntN(1e6))
		}
		return b.String()
	}
	s := selector(t, New())
	var set signature.Gatherer
	for range 300 {
		passage := words("p", Words+Window-1)
		s.Each(words("a", random.IntN(50))+passage+words("b", random.IntN(50)), set.Add)
		a := set.Set()
		s.Each(words("c", random.IntN(50))+passage+words("d", random.IntN(50)), set.Add)
		b := set.Set()
		if shingle.Shared(a, b) == 0 {
			t.Fatalf("no common feature of %q", passage)
		}
	}
}

func FuzzSelector(f *testing.F) {
	f.Add("one two three four five six 汉字汉字汉字汉字汉字 seven")
	s := selector(f, New())
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := signature.Append(nil, s, text), specification(text); !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	})
}
