package format

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// The default fields for the text and the ID of a document, in order of preference. They apply if the options name no
// fields.
var (
	TextFields = []string{"text", "content", "body", "raw_content", "page_content", "document", "article",
		"markdown", "html", "raw_html"}
	IDFields = []string{"id", "url", "uri", "doc_id", "docid", "document_id", "_id", "warc-record-id", "WARC-Record-ID"}
)

// textFields returns the names of fields that may hold the text, in order of preference: the fields in the options, or
// else all known ones.
func (o *Options) textFields() []string {
	if o.TextField != "" {
		return strings.Split(o.TextField, ",")
	}
	return slices.Concat(o.PreferText, TextFields)
}

// A fieldCount counts the records that have a field, by its name.
type fieldCount map[string]int

// best returns the first name that at least half as many records have as any other name. So one record with an error,
// or one without a text, does not decide for all. It returns "" if no record has any of the names.
func (c fieldCount) best(names []string) string {
	maxCount := 0
	for _, name := range names {
		maxCount = max(maxCount, c[name])
	}
	if i := slices.IndexFunc(names, func(name string) bool { return maxCount > 0 && 2*c[name] >= maxCount }); i >= 0 {
		return names[i]
	}
	return ""
}

// countObject counts the fields of a JSON object that may hold a text or an ID. A string that is not empty, or a number
// as an ID, counts more than all others. Fields that the options name are counted with every content.
func (o *Options) countObject(raw []byte, texts, ids fieldCount) {
	names := o.textFields()
	jsonMembers(raw, func(name, value []byte) {
		isEmpty := bytes.HasPrefix(value, []byte(`""`))
		isText := bytes.HasPrefix(value, []byte(`"`)) && !isEmpty
		isNumber := len(value) > 0 && (value[0] == '-' || value[0] >= '0' && value[0] <= '9')
		if (isText || isEmpty) && o.TextField == "" && slices.Contains(names, string(name)) {
			if texts[string(name)]++; isText {
				texts[string(name)] += heldMax // any text counts more than all empty ones
			}
		}
		if slices.Contains(IDFields, string(name)) {
			if ids[string(name)]++; isText || isNumber {
				ids[string(name)] += heldMax
			}
		}
	})
	if o.TextField != "" {
		for _, name := range names {
			if n, err := jsonEach(raw, name, func([]byte) error { return nil }); err == nil && n > 0 {
				texts[name]++
			}
		}
	}
}

// choose returns the fields to read from records, given how many records have each field.
func (o *Options) choose(texts, ids fieldCount) Fields {
	f := Fields{o.TextField, o.IDField}
	if f.Text == "" {
		f.Text = texts.best(o.textFields())
	}
	if f.ID == "" {
		f.ID = ids.best(IDFields)
	}
	return f
}

// innerTexts are the names of fields that hold the texts of messages and the like.
var innerTexts = append(slices.Clone(TextFields), "value")

// A FieldError is the error of a file whose records have no field with a text.
type FieldError struct {
	Named string   // the fields that the options name, or ""
	Have  []string // names of the fields that the records have
	Inner string   // a field within one of them that holds texts, or ""
}

func (e *FieldError) Error() string {
	advice := "; --text names the field"
	if i := slices.IndexFunc(e.Have, func(name string) bool {
		return e.Named != "" && strings.HasPrefix(name, e.Named+".") &&
			slices.Contains(innerTexts, name[len(e.Named)+1:])
	}); e.Inner == "" && i >= 0 {
		e.Inner = e.Have[i]
	}
	if e.Inner != "" {
		advice += ", such as " + e.Inner
	}
	if e.Named != "" {
		return fmt.Sprintf("no field %q among %.200s%s", e.Named, strings.Join(e.Have, ", "), advice)
	}
	return fmt.Sprintf("none of the fields %.200s is known to hold the text%s", strings.Join(e.Have, ", "), advice)
}

// innerText returns the path of a field with a text within a field that is not a text, or "" if there is none. It walks
// the record only once, because a record may have many fields.
func innerText(record []byte, field string) (path string) {
	jsonEach(record, field, func(value []byte) error {
		if kind := jsonKind(value); kind != "object" && kind != "array" {
			return nil
		}
		for _, name := range innerTexts {
			jsonEach(value, name, func(v []byte) error {
				if path == "" && jsonKind(v) == "string" {
					path = field + "." + name
				}
				return nil
			})
		}
		return nil
	})
	return path
}

// fieldError returns the error for records without a field that has a text. It returns nil if no record is an object.
func (o *Options) fieldError(records []rowUnit) error {
	e := &FieldError{Named: o.TextField}
	for _, u := range records {
		for _, name := range fieldNames(u.raw) {
			if len(e.Have) < 30 && !slices.Contains(e.Have, name) {
				e.Have = append(e.Have, name)
			}
			if e.Inner == "" {
				e.Inner = innerText(u.raw, name)
			}
		}
	}
	if len(e.Have) == 0 {
		return nil
	}
	return e
}

// showsText reports whether the first bytes of a JSON object show a field with a text.
func (o *Options) showsText(head []byte) bool {
	return slices.ContainsFunc(o.textFields(), func(name string) bool {
		if o.TextField != "" {
			name, _, _ = strings.Cut(name, ".")
		}
		return bytes.Contains(head, []byte(`"`+strings.TrimSuffix(name, everyElement)+`"`))
	})
}
