package result

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Format is a way to write rows.
type Format int

const (
	TSV    Format = iota + 1 // tab-separated fields, one row per line
	JSON                     // one object per line
	Binary                   // records of 32 bytes, only for hits

	Parquet // a file of columns, compressed with zstd
)

// Tables are the formats of tables.
var Tables = []Format{TSV, JSON, Parquet}

// names are the names of the formats. For a table, the name is also the file extension.
var names = map[Format]string{TSV: "tsv", JSON: "jsonl", Parquet: "parquet", Binary: "bin"}

// String returns the name of the format: tsv, jsonl, parquet or bin.
func (f Format) String() string { return names[f] }

// IsText reports whether the format can be shown on a terminal.
func (f Format) IsText() bool { return f != Binary && f != Parquet }

// ParseFormat returns the allowed format with that name. json is another name of jsonl. The error lists the names.
func ParseFormat(name string, allowed ...Format) (Format, error) {
	if name == "json" {
		name = JSON.String()
	}
	words := FormatNames(allowed...)
	if i := slices.Index(words, name); i >= 0 {
		return allowed[i], nil
	}
	last := len(words) - 1
	return 0, fmt.Errorf("%q: must be %s or %s", name, strings.Join(words[:last], ", "), words[last])
}

// FormatOf returns the format of a table file by its extension.
func FormatOf(path string) (Format, error) {
	for _, f := range Tables {
		if filepath.Ext(path) == "."+f.String() {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%s: the name must end with .tsv, .jsonl or .parquet", path)
}

// FormatNames returns the names of formats, in the given order.
func FormatNames(formats ...Format) (words []string) {
	for _, f := range formats {
		words = append(words, f.String())
	}
	return slices.Clip(words)
}
