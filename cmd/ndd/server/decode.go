package server

import "strings"

// The bodies that most requests have are decoded here in one pass: a document or a list of them, a fingerprint or a text, k and limit. A
// body that is not exactly as the description has it, or is written in an unusual way (a name twice, 3.0 for 3), is left to
// huma, which says what is wrong with it: whatever is decoded here, huma decodes to the same.

// decodeQuery decodes the body of /v1/query; ok is false where it is left to huma.
func decodeQuery(body []byte) (in *queryRequest, ok bool) {
	in = new(queryRequest)
	d, seen := newDecoder(body), fields(0)
	return in, d.object(func(name []byte) bool {
		return d.number(name, &seen, &in.K, &in.Limit) || d.subject(name, &seen, &in.Subject)
	}) && d.end()
}

// decodeInsert decodes the body of /v1/insert, with so many documents at most.
func decodeInsert(body []byte, most int) (in *insertRequest, ok bool) {
	in = new(insertRequest)
	d, seen := newDecoder(body), fields(0)
	return in, d.object(func(name []byte) bool {
		return d.documents(name, &seen, &in.Documents, most) || d.document(name, &seen, &in.Document)
	}) && d.end()
}

// decodeCheck decodes the body of /v1/check-and-insert, with so many documents at most.
func decodeCheck(body []byte, most int) (in *checkRequest, ok bool) {
	in = new(checkRequest)
	d, seen := newDecoder(body), fields(0)
	return in, d.object(func(name []byte) bool {
		return d.number(name, &seen, &in.K, &in.Limit) || d.documents(name, &seen, &in.Documents, most) || d.document(name, &seen, &in.Document)
	}) && d.end()
}

// fields are those of an object that have come.
type fields uint8

const (
	fieldK fields = 1 << iota
	fieldLimit
	fieldFingerprint
	fieldText
	fieldHTML
	fieldID
	fieldDocuments
)

// add notes a field, and says whether it comes for the first time.
func (f *fields) add(field fields) bool {
	first := *f&field == 0
	*f |= field
	return first
}

// A decoder decodes the bodies of requests.
type decoder struct{ scanner }

func newDecoder(body []byte) *decoder { return &decoder{scanner{bytes: body, text: string(body)}} }

// number decodes the value of k or limit, and says whether name is one of them and its value is right.
func (d *decoder) number(name []byte, seen *fields, k, limit **integer) bool {
	to, field, least, most := k, fieldK, 0, 64
	switch string(name) {
	case "k":
	case "limit":
		to, field, least, most = limit, fieldLimit, 1, limitMost
	default:
		return false
	}
	n, ok := d.integer()
	if !ok || n < least || n > most || !seen.add(field) {
		return d.fail()
	}
	*to = new(integer)
	**to = integer(n)
	return true
}

// subject decodes the value of a field of a Subject.
func (d *decoder) subject(name []byte, seen *fields, to *Subject) bool {
	var field fields
	var in **string
	switch string(name) {
	case "fingerprint":
		field, in = fieldFingerprint, &to.Fingerprint
	case "text":
		field, in = fieldText, &to.Text
	case "html":
		field, in = fieldHTML, &to.HTML
	default:
		return false
	}
	value, ok := d.string()
	if !ok || field == fieldFingerprint && !isFingerprint(value) || !seen.add(field) {
		return d.fail()
	}
	*in = &value
	return true
}

// document decodes the value of a field of a Document.
func (d *decoder) document(name []byte, seen *fields, to *Document) bool {
	if string(name) != "id" {
		return d.subject(name, seen, &to.Subject)
	}
	id, ok := d.string()
	if !ok || !seen.add(fieldID) || checkID(id, "") != nil {
		return d.fail()
	}
	id = strings.Clone(id) // the index keeps it, and not the body with it
	to.ID = &id
	return true
}

// documents decodes a list of documents.
func (d *decoder) documents(name []byte, seen *fields, to **[]Document, most int) bool {
	if string(name) != "documents" {
		return false
	}
	var list []Document
	ok := d.array(func() bool {
		if len(list) == most {
			return d.fail()
		}
		list = append(list, Document{})
		its, one := fields(0), &list[len(list)-1]
		return d.object(func(name []byte) bool { return d.document(name, &its, one) })
	})
	if !ok || !seen.add(fieldDocuments) {
		return d.fail()
	}
	*to = &list
	return true
}

// isFingerprint says whether a text is one of 16 hexadecimal digits.
func isFingerprint(text string) bool {
	for i := range len(text) {
		if c := text[i] | 0x20; (text[i] < '0' || text[i] > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(text) == 16
}
