package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.org/ndd/cmd/ndd/server/strict"
	"example.org/ndd/engine"
)

const (
	limitDefault = 1000    // default number of IDs in an answer
	limitMax     = 1 << 16 // maximum number of IDs in an answer
	kMax         = 1 << 30 // maximum k in JSON; each index has a lower limit
	idMax        = 2048    // maximum characters of an ID
	cursorMax    = 19      // maximum digits of a cursor
)

// Parameters in the URL are fields of the request, like those of a JSON body, which are read after them. So k, limit, ttl
// and on_conflict work with every kind of body, and have one type each. The parameter id belongs to a document that is the
// whole body: documents in JSON have their own.

// readParameters returns the query parameters of a URL as a JSON object, or nil if there are none. Only the parameters
// in names are allowed, each once.
func readParameters(query string, names []string) ([]byte, *problem) {
	if query == "" {
		return nil, nil
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, fieldProblem("query", "%v", err)
	}
	fields := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(values)) { // in order, so that the same request always gets the same error
		list := values[name]
		switch {
		case !slices.Contains(names, name) && len(names) == 0:
			return nil, fieldProblem("query."+name, "unknown query parameter: there are none")
		case !slices.Contains(names, name):
			return nil, fieldProblem("query."+name, "unknown query parameter: there are %s", strings.Join(names, ", "))
		case len(list) > 1:
			return nil, fieldProblem("query."+name, "given %d times", len(list))
		case !utf8.ValidString(list[0]):
			return nil, fieldProblem("query."+name, "is not UTF-8")
		}
		fields[name] = list[0]
		if n, err := strconv.Atoi(list[0]); err == nil && (name == "k" || name == "limit") {
			fields[name] = n
		}
	}
	object, err := json.Marshal(fields)
	if err != nil {
		return nil, fieldProblem("query", "%v", err)
	}
	return object, nil
}

// conflicts are the values of on_conflict.
var conflicts = map[string]conflict{"replace": conflict(engine.Replace), "keep": conflict(engine.Keep),
	"error": conflict(engine.Refuse)}

// A conflict says what becomes of a document whose ID is taken. 0 means the default of the server.
type conflict engine.OnConflict

// UnmarshalText reads a value of on_conflict.
func (c *conflict) UnmarshalText(text []byte) (err error) {
	ok := false
	if *c, ok = conflicts[string(text)]; !ok {
		err = fmt.Errorf("%.40q must be replace, keep or error", text)
	}
	return err
}

// A cursor is the first document of a page.
type cursor engine.DocID

// UnmarshalText reads the digits.
func (c *cursor) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 64)
	if *c = cursor(n); err != nil || len(text) > cursorMax {
		return fmt.Errorf("%.40q must be the field next of the previous answer", text)
	}
	return nil
}

// An idPrefix is a prefix of IDs. "" is the prefix of all.
type idPrefix string

// UnmarshalText reads the prefix.
func (p *idPrefix) UnmarshalText(text []byte) error {
	if *p = idPrefix(text); *p == "" || utf8.RuneCount(text) > idMax {
		return fmt.Errorf("must be 1 to %d characters of UTF-8", idMax)
	}
	return nil
}

// A choice is true or false.
type choice bool

// UnmarshalText reads the word.
func (c *choice) UnmarshalText(text []byte) error {
	if *c = string(text) == "true"; !*c && string(text) != "false" {
		return fmt.Errorf("%.40q must be true or false", text)
	}
	return nil
}

// checkID returns the reason why an ID is not allowed, or nil. Control characters would break the lines of an answer.
func checkID(id string) error {
	switch n := utf8.RuneCountInString(id); {
	case id == "":
		return errors.New("must not be empty")
	case n > idMax:
		return fmt.Errorf("%d characters, at most %d are kept", n, idMax)
	case !utf8.ValidString(id):
		return errors.New("is not UTF-8")
	case strings.ContainsFunc(id, unicode.IsControl):
		return errors.New("has control characters")
	}
	return nil
}

// distance returns the k of a request: from its body, or else from the parameter, or else the largest k of the index.
// An invalid parameter is a problem even if the body has a k.
func (c *call) distance(k *bitCount) (int, *problem) {
	var parameter struct{ K *bitCount }
	if c.parameters != nil {
		json.Unmarshal(c.parameters, &parameter) // it is valid
	}
	largest := c.index.Design().K
	within := largest
	for _, field := range []struct {
		place string
		k     *bitCount
	}{{"query.k", parameter.K}, {"body.k", k}} {
		if field.k == nil {
			continue
		}
		if within = int(*field.k); within >= 0 && within <= largest {
			continue
		}
		p := fieldProblem(field.place, "k = %d, but the index was built for k from 0 to %d", within, largest)
		if within > largest && within <= 64 {
			p.Detail += fmt.Sprintf("; for a larger k, export it with 'ndd export' and build one with 'ndd build -k %d'", within)
		}
		return 0, p
	}
	return within, nil
}

// limitOr returns a limit, or else the argument otherwise.
func limitOr(limit *idLimit, otherwise int) int {
	if limit == nil {
		return otherwise
	}
	return int(*limit)
}

// A bitCount is the k of a request.
type bitCount int

// UnmarshalJSON reads the number.
func (k *bitCount) UnmarshalJSON(value []byte) error {
	n, err := strict.Integer(value, -kMax, kMax)
	*k = bitCount(n)
	return err
}

// An idLimit is the limit of a request.
type idLimit int

// UnmarshalJSON reads the number.
func (l *idLimit) UnmarshalJSON(value []byte) error {
	n, err := strict.Integer(value, 1, limitMax)
	*l = idLimit(n)
	return err
}
