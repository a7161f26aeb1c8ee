package format

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"ndd/engine/corpus/input"
	"ndd/engine/corpus/unpack"
)

// Fields that hold a document's text and its ID where the options name none, in the order in which
// they are looked for.
var (
	TextFields = []string{"text", "content", "body", "raw_content", "page_content", "document", "article",
		"markdown", "html", "raw_html"}
	IDFields = []string{"id", "url", "uri", "doc_id", "docid", "document_id", "_id", "warc-record-id", "WARC-Record-ID"}
)

// Fields are the names of the fields in which a file's documents have text and ID.
type Fields struct {
	Text string
	ID   string // "" where there is none
}

// isHTML reports whether a field holds pages by its name.
func isHTML(field string) bool { return field == "html" || field == "raw_html" }

// textFields returns the names of fields that may hold the text, in the order in which they are looked
// for: those that the options name, or all that are known.
func (o *Options) textFields() []string {
	if o.TextField != "" {
		return strings.Split(o.TextField, ",")
	}
	return slices.Concat(o.PreferText, TextFields)
}

// A fieldCount counts the records that have a field, by its name.
type fieldCount map[string]int

// best returns the first of some names that half as many records have as any other one: a record of an error or
// one without a text does not decide for all. It returns "" where no record has any.
func (c fieldCount) best(names []string) string {
	most := 0
	for _, name := range names {
		most = max(most, c[name])
	}
	if i := slices.IndexFunc(names, func(name string) bool { return most > 0 && 2*c[name] >= most }); i >= 0 {
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
				texts[string(name)] += heldMax // more than all empty ones
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

// choose returns the fields to take of records, of which some have each field.
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

// recordColumns are the columns of a table that are read, by number; -1: none.
type recordColumns struct {
	Fields
	texts  []int // the first that a row has is its text
	id     int
	names  []string // of all columns
	values [][]int  // of each list of Options.ValueFields, those that there are

	candidates []int // where the options do not name the text: columns that may hold it
}

// columns returns the columns to read of a table that has some names. find returns the number of a
// name's column or -1, and has reports whether a column may hold a text or ID.
func (o *Options) columns(names []string, find func(string) int, has func(string) bool) (c recordColumns, err error) {
	ids, texts := fieldCount{}, o.textFields()
	for _, name := range IDFields {
		if has(name) {
			ids[name] = 1
		}
	}
	c.names, c.Fields, c.id = names, o.choose(nil, ids), -1
	if c.ID != "" { // no column is chosen, even one without a name
		c.id = find(c.ID)
	}
	if o.TextField == "" {
		texts = slices.DeleteFunc(texts, func(name string) bool { return !has(name) })
		c.candidates = found(texts, find)
		texts = texts[:min(len(texts), 1)]
		c.Text = strings.Join(texts, "")
	}
	c.texts = found(texts, find)
	for _, names := range o.ValueFields {
		c.values = append(c.values, found(names, find))
	}
	if len(c.texts) == 0 {
		err = &FieldError{Named: o.TextField, Have: names}
	}
	return c, err
}

// found returns the numbers of those of some columns that there are.
func found(names []string, find func(string) int) (columns []int) {
	for _, name := range names {
		if i := find(name); i >= 0 {
			columns = append(columns, i)
		}
	}
	return columns
}

// unit returns the unit of a row, whose text is in a column. value returns the content of a column as a string of its own.
func (c *recordColumns) unit(column int, text []byte, value func(column int) string) Unit {
	u := Unit{format: CSV, raw: text, columns: c.names, fields: &c.Fields}
	if isHTML(c.names[column]) {
		u.format = HTML
	}
	if c.id >= 0 {
		if u.id = value(c.id); !utf8.ValidString(u.id) { // what replaces invalid bytes makes unlike IDs equal
			u.id = hex.EncodeToString([]byte(u.id))
		}
	}
	for _, list := range c.values {
		var v Value
		for i := 0; i < len(list) && !v.Found; i++ {
			v.Text = value(list[i])
			v.Found = v.Text != ""
		}
		u.values = append(u.values, v)
	}
	return u
}

// chosen reports the fields to the caller if the options do not name them.
func (s *stream) chosen(f Fields) {
	if s.opts.Chosen != nil &&
		(s.opts.TextField == "" && f.Text != TextFields[0] || s.opts.IDField == "" && f.ID != "" && f.ID != IDFields[0]) {
		s.opts.Chosen(s.file.Path, f)
	}
}

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

// innerTexts are the names of fields that hold the texts of messages and the like.
var innerTexts = append(slices.Clone(TextFields), "value")

// innerText returns the path of a field with a text within a field that holds none, "" where there is none.
func innerText(record []byte, field string) string {
	for _, name := range innerTexts {
		isText := false
		jsonEach(record, field+"."+name, func(v []byte) error {
			isText = isText || jsonKind(v) == "string"
			return nil
		})
		if isText {
			return field + "." + name
		}
	}
	return ""
}

// fieldError returns the error of records that have no field with a text, nil where no record is an object.
func (o *Options) fieldError(records []heldRecord) error {
	e := &FieldError{Named: o.TextField}
	for _, r := range records {
		for _, name := range fieldNames(r.unit.raw) {
			if len(e.Have) < 30 && !slices.Contains(e.Have, name) {
				e.Have = append(e.Have, name)
			}
			if e.Inner == "" {
				e.Inner = innerText(r.unit.raw, name)
			}
		}
	}
	if len(e.Have) == 0 {
		return nil
	}
	return e
}

// noFields is the error of a file whose records have no text: the end where the user named the
// file, and a skip of the whole file in a folder. What was decompressed of a block of bzip2 whose checksum
// is wrong may look like any record; then the error is the damage.
func (s *stream) noFields(err error) error {
	if s.r.Packing != unpack.None {
		if _, failed := io.CopyN(io.Discard, s.r, bzip2BlockBytes); errors.Is(failed, unpack.ErrDamaged) {
			return failed
		}
	}
	if s.inFolder() {
		return &input.Skip{Reason: input.NoFields, Err: err}
	}
	return err
}

// bzip2BlockBytes is more than a block of bzip2 decompresses to, unless it is very repetitive.
const bzip2BlockBytes = 1 << 20

// showsText reports whether the first bytes of a JSON object show a field with a text.
func (o *Options) showsText(head []byte) bool {
	return slices.ContainsFunc(o.textFields(), func(name string) bool {
		if o.TextField != "" {
			name, _, _ = strings.Cut(name, ".")
		}
		return bytes.Contains(head, []byte(`"`+strings.TrimSuffix(name, everyElement)+`"`))
	})
}
