package strict

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// A sample has a field of each kind.
type sample struct {
	K      smallInt     `json:"k"`
	List   List[sample] `json:"list"`
	Number float64      `json:"number"`
	Text   string       `json:"text"`
	Word   letter       `json:"word"`
}

// A smallInt is an integer from 0 to 64.
type smallInt int

func (w *smallInt) UnmarshalJSON(value []byte) error {
	n, err := Integer(value, 0, 64)
	*w = smallInt(n)
	return err
}

// A letter is a or b.
type letter byte

func (w *letter) UnmarshalText(text []byte) error {
	if string(text) != "a" && string(text) != "b" {
		return errors.New("must be a or b")
	}
	*w = letter(text[0])
	return nil
}

// TestMistakes reads invalid bodies. The error has the place, and reports whether the body is JSON.
func TestMistakes(t *testing.T) {
	for body, want := range map[string]string{
		``:                     "body: not JSON: it ends at byte 0 syntax",
		` `:                    "body: not JSON: it ends at byte 1 syntax",
		`{`:                    "body: not JSON: it ends at byte 1 syntax",
		`hello`:                "body: not JSON: unexpected 'h' at byte 0 syntax",
		`not json`:             "body: not JSON: unexpected 'o' at byte 1 syntax",
		`{"k": nul`:            "body: not JSON: it ends at byte 9 syntax",
		`{"list": [nil]}`:      "body: not JSON: unexpected 'i' at byte 11 syntax",
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
		`{"k": null}`:          "body.k: expected integer instead of null: a field without a value is left out",
		`{"list": [{}, null]}`: "body.list[1]: expected object instead of null: a field without a value is left out",
		`{"word": 1}`:          "body.word: expected string",
		`{"word": "c"}`:        "body.word: must be a or b",
		`{"k": 1.5}`:           "body.k: expected integer",
		`{"k": -1}`:            "body.k: expected number >= 0",
		`{"k": 1e400}`:         "body.k: expected number <= 64",
		`{"number": 1e400}`:    "body.number: value out of range",
		`{"number": true}`:     "body.number: expected number",
		`{"text": 1}`:          "body.text: expected string",
		`{"list": {}}`:         "body.list: expected array",
		`{"list": []}`:         "body.list: expected array length >= 1",
		`{"list": [1]}`:        "body.list[0]: expected object",
		`{"list": [{` + strings.Repeat("},{", Max) + `}]}`: "body.list: expected array length <= 4096",
		`{"list": [{}, {"k": 65}]}`:                        "body.list[1].k: expected number <= 64",
		`{"list": [{"list": [{"text": []}]}]}`:             "body.list[0].list[0].text: expected string",
		`{"texd": ""}`:                                     "body.texd: unexpected property: there are k, list, number, text, word",
		`{"Text": ""}`:                                     "body.Text: unexpected property: there are k, list, number, text, word",
		`{"text": "a", "text": "a"}`:                       "body.text: the property occurs twice",
		`{"text": "a", "te\u0078t": "a"}`:                  "body.text: the property occurs twice",
		"{\"text\": \"caf\xe9\"}":                          "body.text: not UTF-8: byte 13",
		"{\"text\": \"\\n\xe9\"}":                          "body.text: not UTF-8: byte 12",
		"{\"te\xffxt\": 1}":                                "body: not UTF-8: byte 4",
		`{"text": "a\ud800"}`:                              `body.text: a lone surrogate, \ud800, at byte 11`,
		`{"text": "\udc00\ud800"}`:                         `body.text: a lone surrogate, \udc00, at byte 10`,
		`{"text": "\ud800\u0061"}`:                         `body.text: a lone surrogate, \ud800, at byte 10`,
	} {
		err := Read("body", []byte(body), new(sample))
		got := "no mistake"
		if err != nil {
			if got = err.Place + ": " + err.Message; err.Syntax {
				got += " syntax"
			}
		}
		if got != want {
			t.Errorf("%q: %s\nwant %s", body, got, want)
		}
	}
}

// FuzzRead compares values with encoding/json. A body that Read reports as invalid JSON is invalid there, too.
func FuzzRead(f *testing.F) {
	for _, body := range []string{
		`{}`, ` { "k" : 3.0 , "number" : -1.5e+3 } `,
		`{"k":3e0,"text":"a\"\\\/\b\f\n\r\té😀\u00e9\ud83d\uDE00","word":"\u0061"}`,
		`{"list":[{"k":64},{"list":[{"number":0.0}]},{"text":""}]}`, `{"te\u0078t":"\u0000"}`, `{"number": 1e5, "k": -0}`,
	} {
		if err := Read("body", []byte(body), new(sample)); err != nil {
			f.Errorf("%s: %v", body, err)
		}
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var got, want sample
		if err := Read("body", body, &got); err != nil {
			if err.Syntax && json.Valid(body) {
				t.Fatalf("%q: %v, but it is JSON", body, err)
			}
			return
		}
		if err := json.Unmarshal(body, &want); err != nil {
			t.Fatalf("%q was read: %v", body, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is %+v, want %+v", body, got, want)
		}
	})
}
