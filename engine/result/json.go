package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"ndd/engine/corpus/simhash"
)

// appendJSON appends what encoding/json makes of an object with these fields; strings without
// anything to escape, which are nearly all, it appends itself.
func appendJSON(dst []byte, r *Row, query string, named, html bool) []byte {
	dst = append(dst, `{"query":`...)
	if named {
		dst = appendString(dst, query, html)
	} else {
		dst = strconv.AppendInt(dst, int64(r.Query), 10)
	}
	dst = append(dst, `,"fingerprint":"`...)
	dst = appendHex(dst, r.Fingerprint)
	dst = append(dst, `","distance":`...)
	dst = strconv.AppendInt(dst, int64(r.Distance), 10)
	dst = append(dst, `,"id":`...)
	dst = appendString(dst, r.ID, html)
	return append(dst, "}\n"...)
}

func appendString(dst []byte, s string, html bool) []byte {
	if isPlain(s, html) {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	out := bytes.NewBuffer(dst)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(html)
	if err := enc.Encode(s); err != nil {
		panic(fmt.Sprintf("result: a string without JSON: %v", err)) // there is none
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// isPlain reports whether JSON has the string as it is between quotation marks.
func isPlain(s string, html bool) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c >= 0x7f || c == '"' || c == '\\':
			return false
		case html && (c == '<' || c == '>' || c == '&'):
			return false
		}
	}
	return true
}

// jsonRow is an object of which all fields must be there.
type jsonRow struct {
	Query       json.RawMessage      `json:"query"`
	Fingerprint *simhash.Fingerprint `json:"fingerprint"`
	Distance    *uint64              `json:"distance"`
	ID          *string              `json:"id"`
}

// parseJSON parses a line without its end. The query's field, a number or a string, is returned
// as text.
func parseJSON(line []byte, named bool) (query string, r Row, err error) {
	var fields jsonRow
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&fields); err != nil {
		return "", r, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", r, errors.New("more than one value in the line")
	}
	if fields.Query == nil || fields.Fingerprint == nil || fields.Distance == nil || fields.ID == nil {
		return "", r, errors.New(`one of the fields "query", "fingerprint", "distance" and "id" is missing`)
	}
	query = string(fields.Query)
	if named {
		if query[0] != '"' {
			return "", r, fmt.Errorf("query %.32s is no string", query)
		}
		if err := json.Unmarshal(fields.Query, &query); err != nil {
			return "", r, fmt.Errorf("query: %w", err)
		}
	}
	r.Fingerprint, r.ID = *fields.Fingerprint, *fields.ID
	r.Distance, err = checkDistance(*fields.Distance)
	return query, r, err
}
