package format

// A Head is what the beginning of a file says about its documents.
type Head struct {
	Format Format
	Names  []string // the fields of the first record, or of the table; nil if documents have none
	Tabs   bool     // CSV: fields are separated by tabs
	End    int64    // CSV: of the record that names the fields, as an offset of the decompressed file
}

// Records reports whether documents are records, to which fields can be added.
func (h *Head) Records() bool {
	return h.Format == JSONL || h.Format == JSON || h.Format == CSV || h.Format == Parquet
}
