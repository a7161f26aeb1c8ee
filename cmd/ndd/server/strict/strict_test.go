package strict

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
)

// A sample has a field of each kind.
type sample struct {
	K      float64  `json:"k"` // of which encoding/json reads 3.0, too
	List   []sample `json:"list"`
	Number float64  `json:"number"`
	Text   string   `json:"text"`
}

const listMax = 3

var sampleFields = []string{"k", "list", "number", "text"}

func (s *sample) read(r *Reader) {
	r.Object(sampleFields, func(name string) {
		switch name {
		case "k":
			s.K = float64(r.Integer(0, 64))
		case "list":
			r.Array(listMax, func() {
				s.List = append(s.List, sample{})
				s.List[len(s.List)-1].read(r)
			})
		case "number":
			s.Number = r.Number()
		case "text":
			s.Text = r.String()
		}
	})
}

// TestMistakes reads bodies that are refused: the message has the place, and says whether the body
// is JSON at all.
func TestMistakes(t *testing.T) {
	for body, want := range map[string]string{
		``:                     "body: not JSON: it ends at byte 0 syntax",
		` `:                    "body: not JSON: it ends at byte 1 syntax",
		`{`:                    "body: not JSON: it ends at byte 1 syntax",
		`hello`:                "body: not JSON: unexpected 'h' at byte 0 syntax",
		`{} {}`:                "body: not JSON: unexpected '{' at byte 3 syntax",
		"{}\x00":               `body: not JSON: unexpected '\x00' at byte 2 syntax`,
		`{"text": "a",}`:       "body: not JSON: unexpected ',' at byte 12 syntax",
		`{"text" "a"}`:         "body: not JSON: unexpected '\"' at byte 8 syntax",
		`{"k": 03}`:            "body: not JSON: unexpected '3' at byte 7 syntax",
		`{"k": 1.}`:            "body: not JSON: unexpected '}' at byte 8 syntax",
		`{"k": 1e}`:            "body: not JSON: unexpected '}' at byte 8 syntax",
		`{"k": -}`:             "body: not JSON: unexpected '}' at byte 7 syntax",
		`{"k": NaN}`:           "body: not JSON: unexpected 'N' at byte 6 syntax",
		`{"k": 1`:              "body: not JSON: it ends at byte 7 syntax",
		`{"list": [{}`:         "body: not JSON: it ends at byte 12 syntax",
		"{\"text\": \"a\nb\"}": `body: not JSON: unexpected '\n' at byte 11 syntax`,
		`{"text": "a`:          "body: not JSON: it ends at byte 11 syntax",
		`{"text": "\x"}`:       "body: not JSON: unexpected '\\\\' at byte 10 syntax",
		`{"text": "\u12"}`:     "body: not JSON: unexpected '\\\\' at byte 10 syntax",
		`{"text": "\u+123"}`:   "body: not JSON: unexpected '\\\\' at byte 10 syntax",
		`{"text": "\`:          "body: not JSON: it ends at byte 11 syntax",
		`[]`:                   "body: expected object",
		`null`:                 "body: expected object instead of null: a field without a value is left out",
		`{"k": "1"}`:           "body.k: expected integer",
		`{"k": null}`: "body.k: expected integer instead of null: a field without a value is left " +
			"out",
		`{"k": 1.5}`:                           "body.k: expected integer",
		`{"k": -1}`:                            "body.k: expected number >= 0",
		`{"k": 1e400}`:                         "body.k: expected number <= 64",
		`{"number": 1e400}`:                    "body.number: expected number <= 1.7976931348623157e+308",
		`{"number": true}`:                     "body.number: expected number",
		`{"text": 1}`:                          "body.text: expected string",
		`{"list": {}}`:                         "body.list: expected array",
		`{"list": []}`:                         "body.list: expected array length >= 1",
		`{"list": [{}, {}, {}, {}]}`:           "body.list: expected array length <= 3",
		`{"list": [{}, {"k": 65}]}`:            "body.list[1].k: expected number <= 64",
		`{"list": [{"list": [{"text": []}]}]}`: "body.list[0].list[0].text: expected string",
		`{"texd": ""}`:                         "body.texd: unexpected property: there are k, list, number, text",
		`{"Text": ""}`:                         "body.Text: unexpected property: there are k, list, number, text",
		`{"text": "a", "text": "a"}`:           "body.text: the property comes twice",
		`{"text": "a", "te\u0078t": "a"}`:      "body.text: the property comes twice",
		"{\"text\": \"caf\xe9\"}":              "body.text: not UTF-8: byte 13",
		"{\"text\": \"\\n\xe9\"}":              "body.text: not UTF-8: byte 12",
		"{\"te\xffxt\": 1}":                    "body: not UTF-8: byte 4",
		`{"text": "a\ud800"}`:                  `body.text: a lone surrogate, \ud800, at byte 11`,
		`{"text": "\udc00\ud800"}`:             `body.text: a lone surrogate, \udc00, at byte 10`,
		`{"text": "\ud800\u0061"}`:             `body.text: a lone surrogate, \ud800, at byte 10`,
	} {
		err := Read([]byte(body), new(sample).read)
		got := "no mistake"
		if err != nil {
			if got = err.Error(); err.Syntax {
				got += " syntax"
			}
		}
		if got != want {
			t.Errorf("%q: %s\nwant %s", body, got, want)
		}
	}
}

// seeds are bodies that are read.
var seeds = []string{
	`{}`, ` { "k" : 3.0 , "number" : -1.5e+3 } `, `{"k":3e0,"text":"a\"\\\/\b\f\n\r\té😀\u00e9\ud83d\uDE00"}`,
	`{"list":[{"k":64},{"list":[{"number":0.0}]},{"text":""}]}`, `{"te\u0078t":"\u0000"}`, `{"number": 1e5, "k": -0}`,
}

// TestAsEncodingJSON reads bodies, and changed ones: what is read is what encoding/json reads.
func TestAsEncodingJSON(t *testing.T) {
	pieces := []string{`{`, `}`, `[`, `]`, `,`, `:`, ` `, "\n", `"`, `"k"`, `"list"`, `"number"`, `"text"`, `"K"`, `0`,
		`00`, `3`, `-1`, `3.0`, `3e0`, `.`, `e`, `E`, `+`, `null`, `true`, `""`, `"a"`,
		`\n`, `\u00e9`, `\ud800`, `\udc00`, `\u12`, `\x`, `\`, "\x00", "\x1f", "\x7f", "\xff", "\xc3", "é", "a"}
	rng := rand.New(rand.NewPCG(18, 1))
	taken := 0
	for _, body := range seeds {
		if !readsAlike(t, []byte(body)) {
			t.Errorf("%s was refused", body)
		}
		for range 5000 {
			changed := []byte(body)
			for range 1 + rng.IntN(3) {
				at := rng.IntN(len(changed) + 1)
				to := at + rng.IntN(min(3, len(changed)-at+1))
				changed = append(append(append([]byte{}, changed[:at]...), pieces[rng.IntN(len(pieces))]...), changed[to:]...)
			}
			if readsAlike(t, changed) {
				taken++
			}
		}
	}
	if taken < 500 {
		t.Errorf("only %d of the changed bodies were read", taken)
	}
}

// readsAlike reports whether a body is read, and demands that encoding/json then reads the same. A
// body that is called no JSON must be none.
func readsAlike(t *testing.T, body []byte) bool {
	t.Helper()
	var got, want sample
	err := Read(body, got.read)
	if err != nil {
		if err.Syntax && json.Valid(body) {
			t.Fatalf("%q: %v, but it is JSON", body, err)
		}
		return false
	}
	if e := json.Unmarshal(body, &want); e != nil {
		t.Fatalf("%q was read: %v", body, e)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q is %+v, want %+v", body, got, want)
	}
	return true
}

// FuzzRead sends anything.
func FuzzRead(f *testing.F) {
	for _, body := range seeds {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) { readsAlike(t, body) })
}
