package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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
// for.
func (o *Options) textFields() []string { return slices.Concat(o.PreferText, TextFields) }

// choose returns the fields to take of records that have these ones; ok is false where no text is
// among them. A field that the options name is chosen whether it is there or not.
func (o *Options) choose(has func(field string) bool) (f Fields, ok bool) {
	f = Fields{o.TextField, o.IDField}
	if f.Text == "" {
		names := o.textFields()
		i := slices.IndexFunc(names, has)
		if i < 0 {
			return f, false
		}
		f.Text = names[i]
	}
	if f.ID == "" {
		if i := slices.IndexFunc(IDFields, has); i >= 0 {
			f.ID = IDFields[i]
		}
	}
	return f, true
}

// recordColumns are the columns of a table that are read, by number; -1: none.
type recordColumns struct {
	Fields
	text, id int
	names    []string // of all columns
	values   [][]int  // of each list of Options.ValueFields, those that there are
}

// columns returns the columns to read of a table that has some names. find returns the number of a
// name's column or -1, and has reports whether a column may hold a text or ID.
func (o *Options) columns(names []string, find func(string) int, has func(string) bool) (c recordColumns, err error) {
	c.names = names
	c.Fields, _ = o.choose(has)
	c.text, c.id = -1, -1
	if c.Text != "" { // no column is chosen, even one without a name
		c.text = find(c.Text)
	}
	if c.ID != "" {
		c.id = find(c.ID)
	}
	for _, names := range o.ValueFields {
		var list []int
		for _, name := range names {
			if i := find(name); i >= 0 {
				list = append(list, i)
			}
		}
		c.values = append(c.values, list)
	}
	if c.text < 0 {
		err = &FieldError{o.TextField, names}
	}
	return c, err
}

// unit returns the unit of a row. value returns the content of a column as a string of its own.
func (c *recordColumns) unit(text []byte, value func(column int) string) Unit {
	u := Unit{format: CSV, raw: text, columns: c.names}
	if isHTML(c.Text) {
		u.format = HTML
	}
	if c.id >= 0 {
		u.id = value(c.id)
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
	Named string   // the field that the options name, or ""
	Have  []string // names of the fields that the records have
}

func (e *FieldError) Error() string {
	if e.Named != "" {
		return fmt.Sprintf("no field %q among %.200s; --text names the field", e.Named, strings.Join(e.Have, ", "))
	}
	return fmt.Sprintf("none of the fields %.200s is known to hold the text; --text names the field",
		strings.Join(e.Have, ", "))
}

// objectFields returns the fields of a JSON object for the records of a file. ok is false where it
// is not an object: the record itself becomes a skip, and the next one decides.
func (s *stream) objectFields(raw []byte) (f Fields, ok bool, err error) {
	begins := map[string]byte{} // the first byte of each value that may be text or ID
	names := s.opts.textFields()
	isObject, err := jsonMembers(raw, func(name []byte, c byte) {
		if slices.Contains(names, string(name)) || slices.Contains(IDFields, string(name)) {
			if _, again := begins[string(name)]; !again {
				begins[string(name)] = c
			}
		}
	})
	if err != nil || !isObject {
		f, _ = s.opts.choose(func(string) bool { return true })
		return f, false, nil
	}
	f, ok = s.opts.choose(func(name string) bool {
		c := begins[name]
		return c == '"' || slices.Contains(IDFields, name) && (c == '-' || c >= '0' && c <= '9')
	})
	if !ok {
		return f, false, s.noFields(&FieldError{"", fieldNames(raw)})
	}
	return f, true, nil
}

// noFields is the error of a file whose records have no text: the end where the user named the
// file, and a skip of the whole file in a folder. What was decompressed of a block of bzip2 whose checksum
// is wrong may look like any record; then the error is the damage.
func (s *stream) noFields(err error) error {
	if s.unpacking != nil {
		if _, failed := io.CopyN(io.Discard, s.r, bzip2BlockBytes); errors.Is(failed, ErrDamaged) {
			return failed
		}
	}
	if s.file.inFolder() {
		return &Skip{Reason: NoFields, Err: err}
	}
	return err
}

// bzip2BlockBytes is more than a block of bzip2 decompresses to, unless it is very repetitive.
const bzip2BlockBytes = 1 << 20

// showsText reports whether the first bytes of a JSON object show a field with a text.
func (o *Options) showsText(head []byte) bool {
	names := o.textFields()
	if o.TextField != "" {
		top, _, _ := strings.Cut(o.TextField, ".")
		names = []string{strings.TrimSuffix(top, everyElement)}
	}
	return slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(head, []byte(`"`+name+`"`)) })
}
