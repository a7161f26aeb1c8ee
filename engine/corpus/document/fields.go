package document

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/valyala/fastjson"
)

// Fields that hold a document's text and its ID where the options name none, in the order in which they are looked for.
var (
	TextFields = []string{"text", "content", "body", "raw_content", "page_content", "document", "article", "markdown", "html", "raw_html"}
	IDFields   = []string{"id", "url", "uri", "doc_id", "docid", "document_id", "_id", "warc-record-id", "WARC-Record-ID"}
)

// Fields are the names of the fields in which a file's documents have text and ID.
type Fields struct {
	Text string
	ID   string // "" where there is none
}

// isHTML says whether a field holds pages by its name.
func isHTML(field string) bool { return field == "html" || field == "raw_html" }

// choose returns the fields to take of records that have these ones; ok is false where no text is among them. What the options name is taken,
// whether it is there or not.
func (o *Options) choose(has func(field string) bool) (f Fields, ok bool) {
	f = Fields{o.TextField, o.IDField}
	if f.Text == "" {
		i := slices.IndexFunc(TextFields, has)
		if i < 0 {
			return f, false
		}
		f.Text = TextFields[i]
	}
	if f.ID == "" {
		if i := slices.IndexFunc(IDFields, has); i >= 0 {
			f.ID = IDFields[i]
		}
	}
	return f, true
}

// chosen tells the caller of fields that the options do not name.
func (s *stream) chosen(f Fields) {
	if s.opts.Chosen != nil && (s.opts.TextField == "" && f.Text != TextFields[0] || s.opts.IDField == "" && f.ID != "" && f.ID != IDFields[0]) {
		s.opts.Chosen(s.file.Path, f)
	}
}

// A FieldError says that records have no field with a text. It wraps nothing.
type FieldError struct {
	Have []string // names of the fields that they have
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("none of the fields %.200s is known to hold the text", strings.Join(e.Have, ", "))
}

// objectFields returns the fields of a JSON object for the records of a file. ok is false where it is not an object: the record itself
// becomes a skip, and the next one tells.
func (s *stream) objectFields(raw []byte) (f Fields, ok bool, err error) {
	v, err := fastjson.ParseBytes(raw)
	if err != nil || v.Type() != fastjson.TypeObject {
		f, _ = s.opts.choose(func(string) bool { return true })
		return f, false, nil
	}
	object := v.GetObject()
	has := func(name string) bool {
		field := object.Get(name)
		return field != nil && field.Type() == fastjson.TypeString
	}
	hasID := func(name string) bool {
		field := object.Get(name)
		return field != nil && (field.Type() == fastjson.TypeString || field.Type() == fastjson.TypeNumber)
	}
	f, ok = s.opts.choose(func(name string) bool {
		if slices.Contains(IDFields, name) {
			return hasID(name)
		}
		return has(name)
	})
	if !ok {
		return f, false, s.noFields(&FieldError{fieldNames(v)})
	}
	return f, true, nil
}

// noFields is the error of a file whose records have no text: the end where the user named the file, and a skip of the whole
// file in a folder.
func (s *stream) noFields(err error) error {
	if s.file.inFolder() {
		return &Skip{Source: s.file.Path, Reason: NoFields, Err: err}
	}
	return err
}

// showsText tells whether the first bytes of a JSON object show a field with a text.
func (o *Options) showsText(head []byte) bool {
	names := TextFields
	if o.TextField != "" {
		top, _, _ := strings.Cut(o.TextField, ".")
		names = []string{top}
	}
	return slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(head, []byte(`"`+name+`"`)) })
}
