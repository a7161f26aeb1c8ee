package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"unicode/utf8"
)

// The answers that most requests get are written by appending, as encoding/json would write them.

// answers are buffers for them.
var answers = sync.Pool{New: func() any { return new([]byte) }}

// answerMost is the largest answer whose buffer is kept.
const answerMost = 64 << 10

// lengthKnown is the length of an answer up to which the HTTP server finds it out itself; a longer one would come in chunks.
const lengthKnown = 2 << 10

// jsonHeader is a header of all of them.
var jsonHeader = []string{mediaJSON}

// send answers 200 with what is appended.
func send(w http.ResponseWriter, add func(out []byte) []byte) {
	buffer := answers.Get().(*[]byte)
	out := append(add((*buffer)[:0]), '\n')
	h := w.Header()
	h["Content-Type"] = jsonHeader
	if len(out) > lengthKnown {
		h["Content-Length"] = []string{strconv.Itoa(len(out))}
	}
	w.WriteHeader(http.StatusOK)
	w.Write(out) // a client that has gone needs no answer
	if cap(out) <= answerMost {
		*buffer = out
		answers.Put(buffer)
	}
}

// append appends the answer as JSON.
func (n *Neighbours) append(out []byte) []byte {
	out = append(out, '{')
	out = n.fields(out)
	return append(out, '}')
}

// fields appends the fields of the answer.
func (n *Neighbours) fields(out []byte) []byte {
	out = append(out, `"fingerprint":"`...)
	out = append(out, n.Fingerprint...) // hexadecimal digits
	out = append(out, `","k":`...)
	out = strconv.AppendInt(out, int64(n.K), 10)
	out = append(out, `,"documents":`...)
	out = strconv.AppendInt(out, int64(n.Documents), 10)
	out = append(out, `,"truncated":`...)
	out = strconv.AppendBool(out, n.Truncated)
	out = append(out, `,"hits":`...)
	return appendList(out, n.Hits, (*hit).append)
}

// appendList appends a list of what add appends.
func appendList[T any](out []byte, list []T, add func(*T, []byte) []byte) []byte {
	out = append(out, '[')
	for i := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = add(&list[i], out)
	}
	return append(out, ']')
}

func (h *hit) append(out []byte) []byte {
	out = append(out, `{"fingerprint":"`...)
	out = append(out, h.Fingerprint...)
	out = append(out, `","distance":`...)
	out = strconv.AppendInt(out, int64(h.Distance), 10)
	out = append(out, `,"documents":`...)
	out = strconv.AppendInt(out, int64(h.Documents), 10)
	out = append(out, `,"ids":`...)
	out = appendList(out, h.IDs, appendString)
	return append(out, '}')
}

// append appends the answer as JSON.
func (a *checkAnswer) append(out []byte) []byte {
	out = append(out, '{')
	out = a.ItemResult.fields(out)
	out = append(out, `"inserted":`...)
	out = strconv.AppendBool(out, a.Inserted)
	out = appendPlace(out, a.ID, a.Number)
	out = appendTrue(out, `,"replaced":true`, a.Replaced)
	out = appendTrue(out, `,"kept":true`, a.Kept)
	if a.Neighbours != nil {
		out = a.Neighbours.fields(append(out, ','))
	}
	return append(out, '}')
}

// append appends the answer as JSON.
func (a *insertAnswer) append(out []byte) []byte {
	out = append(out, '{')
	out = a.ItemResult.fields(out)
	out = append(out, `"inserted":`...)
	out = strconv.AppendBool(out, a.Inserted)
	out = appendPlace(out, a.ID, a.Number)
	if a.Fingerprint != "" {
		out = append(out, `,"fingerprint":"`...)
		out = append(out, a.Fingerprint...)
		out = append(out, '"')
	}
	out = appendTrue(out, `,"replaced":true`, a.Replaced)
	out = appendTrue(out, `,"kept":true`, a.Kept)
	return append(out, '}')
}

// fields appends what is told of one of several documents, with a comma behind it.
func (r *ItemResult) fields(out []byte) []byte {
	if r.Status != 0 {
		out = append(out, `"status":`...)
		out = append(strconv.AppendInt(out, int64(r.Status), 10), ',')
	}
	if r.Error != "" {
		out = append(out, `"error":`...)
		out = append(appendString(&r.Error, out), ',')
	}
	return out
}

// appendPlace appends where a document is in the index.
func appendPlace(out []byte, id string, number *uint64) []byte {
	if id != "" {
		out = append(out, `,"id":`...)
		out = appendString(&id, out)
	}
	if number != nil {
		out = append(out, `,"number":`...)
		out = strconv.AppendUint(out, *number, 10)
	}
	return out
}

// appendTrue appends a field that is there where it is true.
func appendTrue(out []byte, field string, is bool) []byte {
	if is {
		out = append(out, field...)
	}
	return out
}

// appendString appends a string in quotes.
func appendString(text *string, out []byte) []byte {
	for i := range len(*text) {
		if c := (*text)[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendEscaped(out, *text)
		}
	}
	out = append(out, '"')
	out = append(out, *text...)
	return append(out, '"')
}

// appendEscaped appends a string that is not as simple as most.
func appendEscaped(out []byte, text string) []byte {
	b := bytes.NewBuffer(out)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic("server: a string without JSON: " + err.Error())
	}
	b.Truncate(b.Len() - 1) // the end of a line
	return b.Bytes()
}
