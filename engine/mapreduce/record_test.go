package mapreduce

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ndd/engine/oracle/must"
)

// TestEscape: every text is a field of printable ASCII without space, and comes back as it was.
func TestEscape(t *testing.T) {
	for _, s := range []string{"", "a", "a b", "\\", "\\e", "\\s", "~end", "a~b", "\t\n\r\x00\xff", "naïve 東京",
		"!", strings.Repeat("\x01", 100)} {
		checkEscape(t, s)
	}
	for field, want := range map[string]string{`~`: `\x7e`, `a b`: `a\sb`, ``: `\e`, "\t": `\t`, "é": `\xc3\xa9`} {
		if got := string(appendEscaped(nil, field)); got != want {
			t.Errorf("%q is escaped as %s, want %s", field, got, want)
		}
	}
	for _, bad := range []string{"", `\`, `\q`, `a\x1`, `\xg0`, `\x0g`, `\ea`, `a\e`} {
		if got, err := unescape([]byte(bad)); err == nil || !errors.Is(err, errEscape) {
			t.Errorf("%q is unescaped as %q: %v", bad, got, err)
		}
	}
}

func checkEscape(t *testing.T, s string) {
	t.Helper()
	field := appendEscaped([]byte("x"), s)[1:]
	if err := (record{key: field}).check(); err != nil || bytes.ContainsAny(field,
		" \t") || len(field) == 0 || field[0] == '~' {
		t.Fatalf("%q is escaped as %q: %v", s, field, err)
	}
	if back, err := unescape(field); err != nil || back != s {
		t.Fatalf("%q comes back as %q: %v", s, back, err)
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("a b\\é~")
	f.Fuzz(func(t *testing.T, s string) {
		checkEscape(t, s)
		if text, err := unescape([]byte(s)); err == nil {
			checkEscape(t, text)
		}
	})
}

// TestNumbers: digits sort as the numbers do, and read back.
func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var all []uint64
	for range 1000 {
		all = append(all, rng.Uint64()>>rng.IntN(64))
	}
	all = append(all, 0, 1<<64-1)
	slices.Sort(all)
	last := ""
	for _, v := range all {
		text := appendNumber(nil, v, printDigits)
		if back, ok := number(text); !ok || back != v || string(text) < last {
			t.Fatalf("%x is %s, and back %x; before it %s", v, text, back, last)
		}
		last = string(text)
	}
	for _, bad := range []string{"", "!", "a b", strings.Repeat("z", 11), strings.Repeat("z", 12)} {
		if v, ok := number([]byte(bad)); ok {
			t.Errorf("%q is %x", bad, v)
		}
	}
}

// TestBlock: sets of every size and width come back, in at most 8 bits a number more than their
// entropy.
func TestBlock(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{1, 2, 3, 100, 5000} {
		for _, width := range []uint{1, 7, 20, 40, 52, 63, 64} {
			var set []uint64
			for range n {
				set = append(set, rng.Uint64()>>(64-width))
			}
			slices.Sort(set)
			set = slices.Compact(set)
			checkBlock(t, set)
			if n == 5000 && width == 52 {
				if each := float64(len(appendBlock(nil, set))) * 6 / 5000; each > 52-12.29+1.44+8 {
					t.Errorf("%.2f bits a number", each)
				}
			}
		}
	}
	checkBlock(t, []uint64{0})
	checkBlock(t, []uint64{1<<64 - 1})
	checkBlock(t, []uint64{0, 1, 2, 1<<64 - 2, 1<<64 - 1})
	for _, bad := range []string{"", "0", "-0", "1-00", "Cxxxxxxxxxxxx", "1!!", "B" + strings.Repeat("z", 11),
		"BE----------E----------"} {
		if set, err := parseBlock(nil, []byte(bad)); err == nil {
			t.Errorf("%q gives %x", bad, set)
		}
	}
}

func checkBlock(t *testing.T, set []uint64) {
	t.Helper()
	block := appendBlock(nil, set)
	if got, err := parseBlock(nil, block); err != nil || !slices.Equal(got, set) {
		t.Fatalf("%x come back as %x: %v", set, got, err)
	}
	must.Do(t, (record{value: block}).check())
}

// FuzzBlock: no text makes more numbers than it has digits, or numbers that do not ascend, and they
// can be written.
func FuzzBlock(f *testing.F) {
	f.Add(appendBlock(nil, []uint64{1, 5, 900, 1 << 40}))
	f.Add([]byte("A--01AAAA"))
	f.Fuzz(func(t *testing.T, block []byte) {
		set, err := parseBlock(nil, block)
		if err != nil {
			return
		}
		if len(set) > len(block) || !slices.IsSorted(set) {
			t.Fatalf("%q gives %x", block, set)
		}
		checkBlock(t, set)
	})
}

// TestLines: lines of any length come whole, and one beyond the limit is left behind.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	l := newLines(strings.NewReader("a\r\n\n" + long + "\nb"))
	for _, want := range []string{"a", "", long, "b"} {
		if got, err := l.next(); err != nil || string(got) != want {
			t.Fatalf("%.20q, %v; want %.20q", got, err, want)
		}
	}
	if _, err := l.next(); err != io.EOF {
		t.Fatal(err)
	}
	l = newLines(strings.NewReader("a\n" + strings.Repeat("x", lineMax+1) + "\nb\n"))
	for _, want := range []error{nil, errLong, nil, io.EOF} {
		if _, err := l.next(); !errors.Is(err, want) {
			t.Fatalf("%v, want %v", err, want)
		}
	}
}

// FuzzReduce: no input has a reduce panic, or succeed without the ends of its records.
func FuzzReduce(f *testing.F) {
	f.Add([]byte("--~end\tparts=1 records=0 sum=0000000000000000\n"))
	f.Add([]byte("-----\tA---1AAAA\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, j := range []Reducer{Scan{}, Pairs{K: 3}, Stars{Round: SmallStar}, Assign{}, Dedup{}} {
			var out bytes.Buffer
			err := Reduce(t.Context(), j, Options{In: bytes.NewReader(data), Out: &out, Partitions: 64})
			if err == nil && out.Len() > 0 && bytes.Count(out.Bytes(), []byte("\n")) > 1 && !bytes.Contains(data,
				[]byte(endKey)) {
				t.Fatalf("%T: records without an end are taken", j)
			}
		}
	})
}
