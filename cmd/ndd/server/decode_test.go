package server

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// documentsMost is the longest list of documents in these tests.
const documentsMost = 3

// A described decodes bodies in both ways.
type described struct {
	quick  func(body []byte) (any, bool)
	schema *huma.Schema
	of     reflect.Type
}

func describedBodies() (huma.Registry, []described) {
	all := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	list := []described{
		{quick: func(b []byte) (any, bool) { return decodeQuery(b) }, of: reflect.TypeFor[queryRequest]()},
		{quick: func(b []byte) (any, bool) { return decodeInsert(b, documentsMost) }, of: reflect.TypeFor[insertRequest]()},
		{quick: func(b []byte) (any, bool) { return decodeCheck(b, documentsMost) }, of: reflect.TypeFor[checkRequest]()},
	}
	most := documentsMost
	for i := range list {
		list[i].schema = all.Schema(list[i].of, false, "")
		if documents := list[i].schema.Properties["documents"]; documents != nil {
			documents.MaxItems = &most
		}
	}
	return all, list
}

// compareDecoders demands that a body which is decoded quickly is one that the description allows, with the same values.
func compareDecoders(t *testing.T, all huma.Registry, d *described, body []byte) (taken bool) {
	t.Helper()
	got, ok := d.quick(body)
	if !ok {
		return false
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatalf("%v: %q was taken: %v", d.of, body, err)
	}
	var result huma.ValidateResult
	huma.Validate(all, d.schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, value, &result)
	if len(result.Errors) > 0 {
		t.Fatalf("%v: %q was taken: %v", d.of, body, result.Errors)
	}
	want := reflect.New(d.of).Interface()
	if err := json.Unmarshal(body, want); err != nil {
		t.Fatalf("%v: %q was taken: %v", d.of, body, err)
	}
	if !reflect.DeepEqual(got, want) {
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		t.Fatalf("%v: %q is\n%s, want\n%s", d.of, body, a, b)
	}
	return true
}

// usual are bodies, and the decoders that decode them quickly: q of queries, i of inserts, c of checks.
var usual = map[string]string{
	`{"fingerprint": "0123456789abcdef"}`:                                   "qic",
	`{"fingerprint":"0123456789ABCDEF","k":3,"limit":65536}`:                "qc",
	" {\t\"text\"\r\n: \"a\\n\\\"b\\\" \\u00e9\\ud83d\\ude00 é\"}\n":        "qic",
	`{"html": "<p>\u003ca\/b\\\b\f\n\r\t"}`:                                 "qic",
	`{"id": "https://a.example/?x=ä", "text": "", "k": 0}`:                  "c",
	`{"id": "a", "fingerprint": "0123456789abcdef"}`:                        "ic",
	`{"documents": [{"id": "a", "text": "b"}, {"html": "c"}]}`:              "ic",
	`{"documents": [{"id":"a"},{"id":"b"},{"id":"c"}], "k": 64}`:            "c",
	`{"k": 1, "k": 2, "fingerprint": "0123456789abcdef"}`:                   "",
	`{"documents": [{"id": "a", "text": "b"}], "documents": [{"id": "c"}]}`: "", // of which encoding/json makes one with both
}

// pieces are what bodies are made of, right and wrong.
var pieces = []string{`{`, `}`, `{`, `}`, `[`, `]`, `,`, `,`, `:`, `:`, ` `, "\n", `"`, `"`, `"k"`, `"limit"`, `"id"`, `"fingerprint"`, `"text"`, `"html"`, `"documents"`, `"K"`, `"other"`,
	`"0123456789abcdef"`, `"0123456789abcdeg"`, `"0123456789abcde"`, `0`, `00`, `3`, `03`, `-1`, `3.0`, `3e0`, `64`, `65`, `65536`, `65537`, `null`, `true`, `""`, `"a"`, `\n`, `\u00e9`, `\ud800`, `\udc00`, `\u12`, `\x`, `\`,
	"\x00", "\x1f", "\x7f", "\xff", "\xc3", "é", "a", "bcdefghijklmnop", strings.Repeat("x", 70)}

// What is decoded quickly is what huma would decode, and usual bodies are.
func TestDecodedAsDescribed(t *testing.T) {
	all, list := describedBodies()
	for body, by := range usual {
		for i := range list {
			if want := strings.Contains(by, string("qic"[i])); compareDecoders(t, all, &list[i], []byte(body)) != want {
				t.Errorf("%v: %q: taken is %v", list[i].of, body, !want)
			}
		}
	}
	rng := rand.New(rand.NewPCG(18, 1))
	taken := 0
	for body := range usual {
		for range 5000 {
			changed := []byte(body)
			for range 1 + rng.IntN(3) {
				at := rng.IntN(len(changed) + 1)
				to := at + rng.IntN(min(3, len(changed)-at+1))
				changed = append(append(append([]byte{}, changed[:at]...), pieces[rng.IntN(len(pieces))]...), changed[to:]...)
			}
			if compareDecoders(t, all, &list[rng.IntN(len(list))], changed) {
				taken++
			}
		}
	}
	for _, c := range malformed {
		for i := range list {
			compareDecoders(t, all, &list[i], []byte(c.body))
		}
	}
	if taken < 1000 {
		t.Errorf("only %d of the changed bodies were decoded", taken)
	}
}

// FuzzDecode sends anything to the decoders.
func FuzzDecode(f *testing.F) {
	for body := range usual {
		f.Add([]byte(body))
	}
	for _, c := range malformed {
		if len(c.body) < 4<<10 {
			f.Add([]byte(c.body))
		}
	}
	all, list := describedBodies()
	f.Fuzz(func(t *testing.T, body []byte) {
		for i := range list {
			compareDecoders(t, all, &list[i], body)
		}
	})
}

// Plain bytes end where one comes that is not, wherever in a word that is.
func TestPlainBytes(t *testing.T) {
	for c := range 256 {
		special := c < 0x20 || c == '"' || c == '\\'
		for at := range 20 {
			for _, other := range []byte{'a', 0x20, 0x7f, 0x80, 0xff, '!', '#', '[', ']'} {
				text := []byte(strings.Repeat(string([]byte{other}), 21))
				text[at] = byte(c)
				want := len(text)
				if special {
					want = at
				}
				if got := plain(text); got != want {
					t.Fatalf("%q: %d, want %d", text, got, want)
				}
			}
		}
	}
}
