package server

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ndd/engine"
	"ndd/engine/index/live"
)

// conflicts are the words for what becomes of a document whose ID is taken.
var conflicts = map[string]live.OnConflict{"replace": engine.Replace, "keep": engine.Keep, "error": engine.Refuse}

// ttlPattern is of times such as 90d.
const ttlPattern = "^([1-9][0-9]{0,5}[dhms]|forever)$"

// ttlUnits are what a time may be in.
var ttlUnits = map[byte]time.Duration{'d': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second}

// parseLifetime reads the parameters on_conflict and ttl.
func (a *arguments) parseLifetime(values url.Values) *problem {
	if values.Has("on_conflict") {
		var ok bool
		if a.onConflict, ok = conflicts[values.Get("on_conflict")]; !ok {
			return misfit("query.on_conflict", "%.40q must be replace, keep or error", values.Get("on_conflict"))
		}
	}
	if values.Has("ttl") {
		var ok bool
		if a.ttl, ok = parseTTL(values.Get("ttl")); !ok {
			return misfit("query.ttl", "%.40q must be a time such as 90d, 36h, 10m or 30s, of at most 6 digits, or forever", values.Get("ttl"))
		}
	}
	return nil
}

// parseTTL reads a time of a whole number of days, hours, minutes or seconds.
func parseTTL(text string) (time.Duration, bool) {
	if text == "forever" {
		return engine.Forever, true
	}
	if len(text) < 2 || len(text) > 7 || text[0] < '1' || text[0] > '9' {
		return 0, false
	}
	unit, ok := ttlUnits[text[len(text)-1]]
	n, err := strconv.Atoi(strings.TrimSuffix(text, text[len(text)-1:]))
	if err != nil || !ok {
		return 0, false
	}
	if int64(n) > math.MaxInt64/int64(unit) {
		return engine.Forever, true // more than 292 years
	}
	return time.Duration(n) * unit, true
}

// lifetime sets how long a document is kept, and what becomes of it when its ID is taken. Where that is to be
// an error it is kept out, like one of a list, and refuses says that this is to be told of as one.
func (s *service) lifetime(ctx context.Context, d *engine.Doc) {
	a := argumentsOf(ctx)
	d.TTL, d.OnConflict = a.ttl, a.onConflict
	if s.refuses(a) {
		d.OnConflict = engine.Keep
	}
}

// refuses says whether a request is to fail for a document whose ID is taken.
func (s *service) refuses(a *arguments) bool {
	if a.onConflict != 0 {
		return a.onConflict == engine.Refuse
	}
	return s.index.Load().Live().Config().OnConflict == engine.Refuse
}

// conflict returns what is answered for a document that was kept out because its ID is taken, nil where that is no error.
func (s *service) conflict(ctx context.Context, d engine.Doc, o *engine.Outcome) *problem {
	if o.Inserted || len(o.Near) > 0 || !s.refuses(argumentsOf(ctx)) {
		return nil
	}
	return refusal(http.StatusConflict, engine.ErrConflict.Error()+": "+strconv.Quote(d.ID)+" is document "+strconv.FormatUint(uint64(o.Doc), 10))
}
