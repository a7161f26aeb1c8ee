package format

import (
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// tableColumns are the columns of a table that are read, by number; -1: none.
type tableColumns struct {
	Fields
	texts  []int // the first of these columns that a row has is its text
	id     int
	names  []string // the names of all columns
	values [][]int  // the columns of each list of Options.ValueFields

	candidates []int // columns that may hold the text, if the options do not name it
}

// columns returns the columns to read of a table with these column names. find returns the number of a column, or -1.
// has reports whether a column may hold a text or ID.
func (o *Options) columns(names []string, find func(string) int, has func(string) bool) (c *tableColumns, err error) {
	c = new(tableColumns)
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
		c.candidates = indexes(texts, find)
		texts = texts[:min(len(texts), 1)]
		c.Text = strings.Join(texts, "")
	}
	c.texts = indexes(texts, find)
	for _, names := range o.ValueFields {
		c.values = append(c.values, indexes(names, find))
	}
	if len(c.texts) == 0 {
		err = &FieldError{Named: o.TextField, Have: names}
	}
	return c, err
}

// indexes returns the numbers of the columns with these names. It ignores names that no column has.
func indexes(names []string, find func(string) int) (columns []int) {
	for _, name := range names {
		if i := find(name); i >= 0 {
			columns = append(columns, i)
		}
	}
	return columns
}

// decide chooses the column of the text. texts counts the first rows with a text in each column.
func (c *tableColumns) decide(o *Options, texts fieldCount) {
	if name := texts.best(o.textFields()); name != "" {
		c.Text, c.texts = name, []int{slices.Index(c.names, name)}
	}
}

// fill completes the unit of a row. column is the column of the text. value returns a copy of the content of a column.
func (c *tableColumns) fill(u *Unit, column int, text []byte, value func(column int) string) {
	u.format, u.raw, u.columns, u.fields = CSV, text, c.names, &c.Fields
	if isHTML(c.names[column]) {
		u.format = HTML
	}
	if c.id >= 0 {
		if u.id = value(c.id); !utf8.ValidString(u.id) { // U+FFFD for invalid bytes would make different IDs equal
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
}
