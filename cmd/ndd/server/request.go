package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ndd/cmd/ndd/server/strict"
	"ndd/engine"
	"ndd/engine/corpus/simhash"
	"ndd/engine/corpus/text"
	"ndd/engine/index/live/rows"
)

// Media types.
const (
	mediaJSON  = "application/json"
	mediaText  = "text/plain"
	mediaHTML  = "text/html"
	mediaBytes = "application/octet-stream"
	mediaTSV   = "text/tab-separated-values"
	mediaLines = "application/x-ndjson"
)

const (
	limitDefault = 1000    // ids of an answer
	limitMax     = 1 << 16 // the same, on demand
	kMax         = 1 << 30 // of a body; every index has a smaller one
	idMax        = 2048    // characters
	cursorMax    = 19      // digits
)

// idHeader names a document that is a request's whole body, as ?id= does.
const idHeader = "Document-Id"

// arguments are the query parameters of a request. A field of a JSON body takes precedence over the
// parameter of its name, so that k, limit, ttl and id may be given with any body.
type arguments struct {
	k, limit   *int
	id         *string
	unique     bool
	prefix     string          // of ids; "" for any
	cursor     engine.DocID    // the first document of a page
	onConflict rows.OnConflict // 0: the server's
	ttl        time.Duration   // 0: the server's
}

// parse reads the parameters of a request, of which only those in names are accepted, and none
// twice.
func (a *arguments) parse(r *http.Request, names []string) *problem {
	if r.URL.RawQuery != "" {
		values, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return misfit("query", "%v", err)
		}
		for name, list := range values {
			switch {
			case !slices.Contains(names, name) && len(names) == 0:
				return misfit("query."+name, "unknown query parameter: there are none")
			case !slices.Contains(names, name):
				return misfit("query."+name, "unknown query parameter: there are %s", strings.Join(names, ", "))
			case len(list) > 1:
				return misfit("query."+name, "given %d times", len(list))
			}
			if why := a.set(name, list[0]); why != "" {
				return misfit("query."+name, "%s", why)
			}
		}
	}
	given := r.Header[idHeader]
	if len(given) == 0 {
		return nil
	}
	id := given[0]
	if len(given) > 1 || id == "" || len(id) > idMax || strings.ContainsFunc(id,
		func(c rune) bool { return c <= ' ' || c > '~' }) {
		return misfit("header "+idHeader,
			"must be one id of at most %d printable ASCII characters without spaces; ?id= takes others", idMax)
	}
	if a.id == nil {
		a.id = &id
	}
	return nil
}

// set sets a parameter and returns its mistake, "" if there is none.
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
			wrong = fmt.Sprintf("%.40q must be the next of the page before", text)
		}
	case "unique":
		if a.unique = text == "true"; !a.unique && text != "false" {
			wrong = fmt.Sprintf("%.40q must be true or false", text)
		}
	}
	return wrong
}

// number reads a whole number, or says that a text is none.
func number(text string) (*int, string) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Sprintf("%.40q must be a whole number", text)
	}
	return &n, ""
}

// conflicts are the words for what happens to a document whose ID is taken.
var conflicts = map[string]rows.OnConflict{"replace": engine.Replace, "keep": engine.Keep, "error": engine.Refuse}

// ttlUnits are the units of a time to live.
var ttlUnits = map[byte]time.Duration{'d': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second}

// wantTTL says how a time to live is written.
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

// badID returns why an id would break the lines of an answer, "" if it would not.
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

// distance returns the k of a request: that of its body, the parameter, or the index's own.
func (v *visit) distance(k *bitCount) (int, *problem) {
	most := v.index().Design().K
	within := most
	for _, one := range []struct {
		place string
		k     *int
	}{{"query.k", v.arguments.k}, {"body.k", (*int)(k)}} {
		if one.k == nil {
			continue
		}
		if within = *one.k; within >= 0 && within <= most {
			continue
		}
		p := misfit(one.place, "k = %d, but the index was built for k from 0 to %d", within, most)
		if within > most && within <= 64 {
			p.Detail += fmt.Sprintf("; for a larger k, export it with 'ndd export' and build one with 'ndd build -k %d'", within)
		}
		return 0, p
	}
	return within, nil
}

// limit returns the limit of a request: that of its body, the parameter, or otherwise.
func (v *visit) limit(limit *idLimit, otherwise int) int {
	switch {
	case limit != nil:
		return int(*limit)
	case v.arguments.limit != nil:
		return *v.arguments.limit
	}
	return otherwise
}

// decode reads the body, which is JSON.
func (v *visit) decode(into any) *problem {
	err := strict.Read(v.body, into)
	if err == nil {
		return nil
	}
	p := misfit(err.Place, "%s", err.Message)
	if err.Syntax {
		p.Status, p.Title = http.StatusBadRequest, http.StatusText(http.StatusBadRequest)
		if len(v.to.accepts) > 1 {
			p.Detail += "; a document itself is sent with the header Content-Type: text/plain or text/html"
		}
	}
	return p
}

// A bitCount is the k of a body, which the index limits.
type bitCount int

// UnmarshalJSON reads the number.
func (k *bitCount) UnmarshalJSON(value []byte) error {
	n, err := strict.Integer(value, -kMax, kMax)
	*k = bitCount(n)
	return err
}

// An idLimit is the limit of a body.
type idLimit int

// UnmarshalJSON reads the number.
func (l *idLimit) UnmarshalJSON(value []byte) error {
	n, err := strict.Integer(value, 1, limitMax)
	*l = idLimit(n)
	return err
}

// isDocument reports whether the body is a document itself.
func (v *visit) isDocument() bool { return v.media != mediaJSON }

// acceptMedia reads the header Content-Type. A body without one, or with the one of forms, which
// curl puts on everything, is taken for the first of those accepted: a form of a foreign web page
// does not come this far (access.CheckOrigin).
func (v *visit) acceptMedia(r *http.Request) *problem {
	const form = "application/x-www-form-urlencoded"
	accepted := v.to.accepts
	if v.encoding = strings.ToLower(r.Header.Get("Content-Encoding")); !slices.Contains(encodings, v.encoding) {
		return refusal(http.StatusUnsupportedMediaType,
			fmt.Sprintf("header Content-Encoding: %.40q must be gzip, zstd or identity", v.encoding))
	}
	value := r.Header.Get("Content-Type")
	if slices.Contains(accepted, value) { // the usual case
		v.media, v.contentType = value, value
		return nil
	}
	media, params, err := mime.ParseMediaType(value)
	switch {
	case value == "" || err == nil && media == form:
		media = accepted[0]
	case err != nil || !slices.Contains(accepted, media):
		return refusal(http.StatusUnsupportedMediaType, fmt.Sprintf("header Content-Type: %.80q, must be %s", value,
			strings.Join(accepted, " or ")))
	}
	if !strings.HasPrefix(media, "text/") {
		params = nil
	}
	if name := params["charset"]; name != "" && !text.KnownCharset(name) {
		return refusal(http.StatusUnsupportedMediaType,
			fmt.Sprintf("header Content-Type: charset %.40q is unknown: send UTF-8", name))
	}
	v.media, v.contentType = media, mime.FormatMediaType(media, params) // with the charset of a document
	return nil
}

// A subject is what a request is about: a fingerprint, or a document that gets one.
type subject struct {
	Fingerprint *hexPrint `json:"fingerprint"`
	Text        *string   `json:"text"`
	HTML        *string   `json:"html"`

	whole bool // the text is the whole body
}

// A hexPrint is a fingerprint that is written as 16 hexadecimal digits.
type hexPrint simhash.Fingerprint

// UnmarshalText reads the digits.
func (f *hexPrint) UnmarshalText(text []byte) error {
	print, err := simhash.Parse(string(text))
	if err != nil {
		return errors.New("expected 16 hexadecimal digits, such as 8c7f2d1e0a9b4455")
	}
	*f = hexPrint(print)
	return nil
}

// A sketch is the fingerprint of a document and the length of its text, 0 if that is not known.
type sketch struct {
	print     simhash.Fingerprint
	textBytes uint32
}

// sketch returns the subject's sketch. Place is its position in the request of ctx.
func (s *service) sketch(ctx context.Context, sub *subject, place string) (sketch, *problem) {
	if p := oneOf(place, "fingerprint, text and html", sub.Fingerprint != nil, sub.Text != nil,
		sub.HTML != nil); p != nil {
		return sketch{}, p
	}
	switch {
	case sub.Fingerprint != nil && s.privateKey():
		return sketch{}, misfit(place+".fingerprint", privateKeyHint)
	case sub.Fingerprint != nil:
		return sketch{print: simhash.Fingerprint(*sub.Fingerprint)}, nil
	case sub.HTML != nil:
		text, err := s.textOf(ctx, []byte(*sub.HTML), mediaHTML)
		if err != nil {
			return sketch{}, broken(err)
		}
		return s.sketchText(ctx, text, place+".html")
	case sub.whole:
		return s.sketchText(ctx, *sub.Text, place)
	}
	return s.sketchText(ctx, *sub.Text, place+".text")
}

// privateKeyHint refuses fingerprints.
const privateKeyHint = "the key of this index is private, so that a fingerprint that was made elsewhere compares with none: " +
	"send text or html"

// privateKey reports whether only the server can make fingerprints for the index.
func (s *service) privateKey() bool {
	r := s.index.Load().Recipe()
	return r != nil && r.Private
}

// textOf returns the text of a document as `ndd fingerprint` does. The content type is text/plain
// or text/html, perhaps with a charset. The error is that of ctx.
func (s *service) textOf(ctx context.Context, body []byte, contentType string) (string, error) {
	declared := text.Declaration{ContentType: contentType}
	if strings.HasPrefix(contentType, mediaHTML) {
		declared.Kind = text.Page
	}
	if recipe := s.index.Load().Recipe(); recipe != nil {
		declared.Extraction = text.Extraction(recipe.Extract)
	}
	decoded, err := new(text.Decoder).Decode(ctx, body, declared)
	return decoded.Text, err
}

// wholeText returns the text of a document that is the whole body of a request.
func (v *visit) wholeText() (string, *problem) {
	text, err := v.service.textOf(v, v.body, v.contentType)
	if err != nil {
		return "", broken(err)
	}
	return text, nil
}

// sketchText returns the sketch of a text.
func (s *service) sketchText(ctx context.Context, text, place string) (sketch, *problem) {
	if s.index.Load().Recipe() == nil {
		return sketch{}, misfit(place,
			"the index was built from raw fingerprints, so it has no recipe for documents: send a fingerprint, or build an "+
				"index with --recipe")
	}
	f := s.prints.Get().(*simhash.Fingerprinter)
	defer s.prints.Put(f)
	f.Until(ctx)
	print, features, ok := f.Fingerprint(text)
	if err := ctx.Err(); err != nil {
		return sketch{}, broken(err)
	}
	if !ok {
		return sketch{}, misfit(place, "document too short for a fingerprint: %s", f.Recipe().TooShort(features))
	}
	return sketch{print, uint32(min(uint64(len(text)), math.MaxUint32))}, nil
}
