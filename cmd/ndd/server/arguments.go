package server

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ndd/engine"
	"ndd/engine/index/live"
)

// arguments are the query parameters of a request. A field of a JSON body goes before the parameter
// of its name, so that k and limit may stand beside any body.
type arguments struct {
	k, limit *int
	id       *string
	unique   bool

	onConflict live.OnConflict // 0: as the server was started
	ttl        time.Duration   // 0: as the server was started
}

// idHeader names a document that is a request's whole body, as ?id= does.
const idHeader = "Document-Id"

// take reads the arguments of a request, and leaves it no query parameters.
func (a *arguments) take(r *http.Request, names []string) *problem {
	if r.URL.RawQuery != "" {
		values, p := parameters(r, names...)
		if p == nil {
			p = a.parse(values)
		}
		if p != nil {
			return p
		}
		r.URL = &url.URL{Path: r.URL.Path}
	}
	given := r.Header[idHeader]
	if len(given) == 0 {
		return nil
	}
	id := given[0]
	if len(given) > 1 || id == "" || len(id) > idMax || strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return misfit("header "+idHeader, "must be one id of at most %d printable ASCII characters without spaces; ?id= takes others", idMax)
	}
	if a.id == nil {
		a.id = &id
	}
	return nil
}

// argumentsOf returns the arguments of the request that ctx belongs to.
func argumentsOf(ctx context.Context) *arguments { return &visitOf(ctx).arguments }

// parameters returns those of a request's URL; any but the named ones, and one
// given twice, are refused.
func parameters(r *http.Request, names ...string) (url.Values, *problem) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, misfit("query", "%v", err)
	}
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for name, list := range values {
		if !known[name] {
			return nil, misfit("query."+name, "unknown query parameter: there %s", areThese(names))
		}
		if len(list) > 1 {
			return nil, misfit("query."+name, "given %d times", len(list))
		}
	}
	return values, nil
}

// areThese says which names there are.
func areThese(names []string) string {
	if len(names) == 0 {
		return "are none"
	}
	return "are " + strings.Join(names, ", ")
}

// parse checks what can be checked without the index.
func (a *arguments) parse(values url.Values) (p *problem) {
	if a.k, p = number(values, "k"); p != nil {
		return p
	}
	if a.limit, p = number(values, "limit"); p != nil {
		return p
	}
	if a.limit != nil && (*a.limit < 1 || *a.limit > limitMost) {
		return misfit("query.limit", "%d must be from 1 to %d", *a.limit, limitMost)
	}
	if values.Has("id") {
		id := values.Get("id")
		if p := checkID(id, "query.id"); p != nil {
			return p
		}
		a.id = &id
	}
	if p := a.parseLifetime(values); p != nil {
		return p
	}
	switch text := values.Get("unique"); {
	case !values.Has("unique") || text == "false":
	case text == "true":
		a.unique = true
	default:
		return misfit("query.unique", "%.40q must be true or false", text)
	}
	return nil
}

// number returns a parameter that is a number, nil where it is not given.
func number(values url.Values, name string) (*int, *problem) {
	if !values.Has(name) {
		return nil, nil
	}
	n, err := strconv.Atoi(values.Get(name))
	if err != nil {
		return nil, misfit("query."+name, "%.40q must be a whole number", values.Get(name))
	}
	return &n, nil
}

// distance returns the k of a request: that of its body, else the parameter, else the index's own.
func (a *arguments) distance(x *engine.Index, k *integer) (int, *problem) {
	within, p := distance(x, a.k, "query.k")
	if p != nil || k == nil {
		return within, p
	}
	return distance(x, k.pointer(), "body.k")
}

// most returns the limit of a request: that of its body, else the parameter, else otherwise.
func (a *arguments) most(limit *integer, otherwise int) int {
	switch {
	case limit != nil:
		return int(*limit)
	case a.limit != nil:
		return *a.limit
	}
	return otherwise
}

// An integer is one of JSON, which 3.0 and 3e0 are as well as 3.
type integer int

// UnmarshalJSON takes a number without a fraction.
func (i *integer) UnmarshalJSON(text []byte) error {
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || f != math.Trunc(f) {
		return fmt.Errorf("%.40s is not a whole number", text)
	}
	*i = integer(max(math.MinInt32, min(f, math.MaxInt32))) // beyond both all are too large
	return nil
}

// pointer returns the number as the engine takes it, nil for none.
func (i *integer) pointer() *int { return (*int)(i) }
