package server

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
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

// idHeader is the header with the ID of a document that is the whole body, as ?id= has it.
const idHeader = "Document-Id"

// arguments are the parameters of a request in its URL and its headers. A field of a JSON body overrides the
// parameter of the same name. So k, limit, ttl and id work with every kind of body.
type arguments struct {
	k, limit   *int
	id         *string // ID of a document; nil: not given
	unique     bool
	prefix     string            // prefix of the IDs; "" means any ID
	cursor     engine.DocID      // the first document of a page
	onConflict engine.OnConflict // 0 means the default of the server
	ttl        time.Duration     // 0: the server's
	accept     []string          // values of the header Accept
	path       string            // ID in the path of the URL
}

// readArguments reads the arguments of a request. Only the parameters in names are allowed, each once.
func readArguments(r *http.Request, names []string) (a arguments, p *problem) {
	a.accept = r.Header["Accept"]
	a.path = r.PathValue("id")
	if r.URL.RawQuery != "" {
		if p = a.parse(r.URL.RawQuery, names); p != nil {
			return a, p
		}
	}
	values := r.Header[idHeader]
	if len(values) == 0 {
		return a, nil
	}
	id := values[0]
	if len(values) > 1 || id == "" || len(id) > idMax || strings.ContainsFunc(id,
		func(c rune) bool { return c <= ' ' || c > '~' }) {
		return a, fieldProblem("header "+idHeader,
			"must be one id of at most %d printable ASCII characters without spaces; ?id= takes others", idMax)
	}
	if a.id == nil {
		a.id = &id
	}
	return a, nil
}

// parse reads query parameters.
func (a *arguments) parse(query string, names []string) *problem {
	values, err := url.ParseQuery(query)
	if err != nil {
		return fieldProblem("query", "%v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) { // in order, so that the same request always gets the same error
		list := values[name]
		switch {
		case !slices.Contains(names, name) && len(names) == 0:
			return fieldProblem("query."+name, "unknown query parameter: there are none")
		case !slices.Contains(names, name):
			return fieldProblem("query."+name, "unknown query parameter: there are %s", strings.Join(names, ", "))
		case len(list) > 1:
			return fieldProblem("query."+name, "given %d times", len(list))
		}
		if why := a.set(name, list[0]); why != "" {
			return fieldProblem("query."+name, "%s", why)
		}
	}
	return nil
}

// set sets a parameter. It returns why the value is invalid, or "".
func (a *arguments) set(name, text string) (wrong string) {
	ok := true
	switch name {
	case "k":
		a.k, wrong = number(text)
	case "limit":
		if a.limit, wrong = number(text); wrong == "" && (*a.limit < 1 || *a.limit > limitMax) {
			wrong = fmt.Sprintf("%d must be from 1 to %d", *a.limit, limitMax)
		}
	case "id":
		a.id, wrong = &text, badID(text)
	case "on_conflict":
		if a.onConflict, ok = conflicts[text]; !ok {
			wrong = fmt.Sprintf("%.40q must be replace, keep or error", text)
		}
	case "ttl":
		if a.ttl, ok = parseTTL(text); !ok {
			wrong = fmt.Sprintf(wantTTL, text)
		}
	case "prefix":
		if a.prefix = text; text == "" || !utf8.ValidString(text) || utf8.RuneCountInString(text) > idMax {
			wrong = fmt.Sprintf("must be 1 to %d characters of UTF-8", idMax)
		}
	case "cursor":
		n, err := strconv.ParseUint(text, 10, 64)
		if a.cursor = engine.DocID(n); err != nil || len(text) > cursorMax {
			wrong = fmt.Sprintf("%.40q must be the field next of the previous answer", text)
		}
	case "unique":
		if a.unique = text == "true"; !a.unique && text != "false" {
			wrong = fmt.Sprintf("%.40q must be true or false", text)
		}
	}
	return wrong
}

// number parses a whole number. It returns why the text is invalid, or "".
func number(text string) (*int, string) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Sprintf("%.40q must be a whole number", text)
	}
	return &n, ""
}

// conflicts are the values of on_conflict.
var conflicts = map[string]engine.OnConflict{"replace": engine.Replace, "keep": engine.Keep, "error": engine.Refuse}

// ttlUnits are the units of a time to live.
var ttlUnits = map[byte]time.Duration{'d': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second}

// wantTTL is the message about an invalid time to live.
const wantTTL = "%.40q must be a time such as 90d, 36h, 10m or 30s, of at most 6 digits, or forever"

// parseTTL reads a time of a whole number of days, hours, minutes or seconds.
func parseTTL(text string) (time.Duration, bool) {
	if text == "forever" {
		return engine.Forever, true
	}
	if len(text) < 2 || len(text) > 7 || text[0] < '1' || text[0] > '9' {
		return 0, false
	}
	unit, ok := ttlUnits[text[len(text)-1]]
	n, err := strconv.Atoi(text[:len(text)-1])
	if err != nil || !ok {
		return 0, false
	}
	if int64(n) > math.MaxInt64/int64(unit) {
		return engine.Forever, true // more than 292 years
	}
	return time.Duration(n) * unit, true
}

// badID returns why an ID is not allowed, or "". Control characters would break the lines of an answer.
func badID(id string) string {
	switch n := utf8.RuneCountInString(id); {
	case id == "":
		return "must not be empty"
	case n > idMax:
		return fmt.Sprintf("%d characters, at most %d are kept", n, idMax)
	case !utf8.ValidString(id):
		return "is not UTF-8"
	case strings.ContainsFunc(id, unicode.IsControl):
		return "has control characters"
	}
	return ""
}

// distance returns the k of a request: from its body, else from the parameter, else the largest k of the index.
func (a *arguments) distance(k *bitCount, largest int) (int, *problem) {
	within := largest
	for _, field := range []struct {
		place string
		k     *int
	}{{"query.k", a.k}, {"body.k", (*int)(k)}} {
		if field.k == nil {
			continue
		}
		if within = *field.k; within >= 0 && within <= largest {
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

// limitOr returns the limit of a request: from its body, else from the parameter, else the argument otherwise.
func (a *arguments) limitOr(limit *idLimit, otherwise int) int {
	switch {
	case limit != nil:
		return int(*limit)
	case a.limit != nil:
		return *a.limit
	}
	return otherwise
}

// A bitCount is the k in a JSON body.
type bitCount int

// UnmarshalJSON reads the number.
func (k *bitCount) UnmarshalJSON(value []byte) error {
	n, err := strict.Integer(value, -kMax, kMax)
	*k = bitCount(n)
	return err
}

// An idLimit is the limit in a JSON body.
type idLimit int

// UnmarshalJSON reads the number.
func (l *idLimit) UnmarshalJSON(value []byte) error {
	n, err := strict.Integer(value, 1, limitMax)
	*l = idLimit(n)
	return err
}
