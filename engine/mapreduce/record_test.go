package mapreduce

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestEscape checks that every text becomes a field of printable ASCII without spaces, and unescape restores it.
func TestEscape(t *testing.T) {
	for _, s := range []string{"", "a", "a b", "\\", "\\e", "\\s", "~end", "a~b", "\t\n\r\x00\xff", "naïve 東京",
		"!", strings.Repeat("\x01", 100)} {
		checkEscape(t, s)
	}
	for field, want := range map[string]string{`~`: `\x7e`, `a!`: `a\x21`, `a b`: `a\x20b`, ``: `\e`, "\t": `\x09`, "é": `\xc3\xa9`} {
		if got := string(appendEscaped(nil, field)); got != want {
			t.Errorf("%q is escaped as %s, want %s", field, got, want)
		}
	}
	for _, bad := range []string{"", `\`, `\q`, `\s`, `a\x1`, `\xg0`, `\x0g`, `\ea`, `a\e`} {
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

// TestNumbers checks that digits sort as the numbers do, and read back.
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

// TestLines checks that lines up to the limit are read completely, and a longer one is skipped.
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

// FuzzMap checks that no input has a map panic, or be lost in silence.
func FuzzMap(f *testing.F) {
	f.Add([]byte("0123456789abcdef\ta 1 ---------------------- -\n"))
	f.Add([]byte("----------------------\tu------a 5 -\n----------------------\t x\n----------------------\tp0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, j := range []Mapper{Pairs{K: 3}, Dedup{}} {
			var out bytes.Buffer
			if err := Map(t.Context(), j, Options{In: bytes.NewReader(data), Out: &out, Partitions: 64}); err == nil && out.Len() == 0 {
				t.Fatalf("%T: no output, and no error", j)
			}
			in := strings.Join(slices.Sorted(strings.Lines(out.String())), "")
			if err := Reduce(t.Context(), j.(Reducer), Options{In: strings.NewReader(in), Out: &out, Partitions: 64}); err != nil {
				continue
			}
			for _, rows := range []Rows{PairRows, DropRows} {
				_ = Collect(t.Context(), Options{In: &out, Out: &bytes.Buffer{}, Rows: rows})
			}
		}
	})
}

// FuzzReduce checks that a reduce never panics, and that it fails if the end of records is missing.
func FuzzReduce(f *testing.F) {
	f.Add([]byte("--~end\t{\"parts\":1,\"records\":0,\"sum\":0}\n"))
	f.Add([]byte("-----\tA---1AAAA\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, j := range []Reducer{Scan{}, Pairs{K: 3}, Dedup{}} {
			var out bytes.Buffer
			err := Reduce(t.Context(), j, Options{In: bytes.NewReader(data), Out: &out, Partitions: 64})
			if err == nil && out.Len() > 0 && bytes.Count(out.Bytes(), []byte("\n")) > 1 && !bytes.Contains(data,
				[]byte(endKey)) {
				t.Fatalf("%T: records without an end are taken", j)
			}
		}
	})
}
