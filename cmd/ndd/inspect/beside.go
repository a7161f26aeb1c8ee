package inspect

import (
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/cmd/ndd/cli"
	"ndd/engine/index/live"
	"ndd/engine/storage/store"
)

// besideInfo is what inspect says of the file beside a segment of an index that is written to.
type besideInfo struct {
	First    uint64     `json:"first"` // number of the first document
	Last     uint64     `json:"last"`
	Deleted  uint64     `json:"deleted_earlier,omitempty"` // documents of earlier segments
	Expire   uint64     `json:"expire,omitempty"`          // how many documents do
	Earliest *time.Time `json:"earliest,omitempty"`        // when the first of them does
	Latest   *time.Time `json:"latest,omitempty"`
}

// beside describes the file beside a segment.
func (d *description) beside(f *store.File) error {
	b, err := live.ReadBeside(f)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	each := segmentPrints(d.Path)
	d.Documents = b.Rows / each
	d.Beside = &besideInfo{First: uint64(b.First) / each, Last: uint64(b.Last) / each, Deleted: b.Deleted / each, Expire: b.Expire / each}
	if b.Expire > 0 {
		d.Beside.Earliest, d.Beside.Latest = &b.Earliest, &b.Latest
	}
	return nil
}

// text writes what is to be said of the file.
func (b *besideInfo) text(w io.Writer, documents uint64) (err error) {
	if documents == 0 {
		_, err = fmt.Fprintln(w, "documents: none")
	} else {
		_, err = fmt.Fprintf(w, "documents: %s, numbers %d to %d\n", humanize.Comma(int64(documents)), b.First, b.Last)
	}
	if b.Deleted > 0 {
		_, err = fmt.Fprintf(w, "deleted: %s of earlier segments\n", cli.Number(b.Deleted, "document"))
	}
	if b.Expire > 0 {
		_, err = fmt.Fprintf(w, "expire: %s, from %s to %s; never: %s\n", cli.Number(b.Expire, "document"),
			b.Earliest.Format(time.RFC3339), b.Latest.Format(time.RFC3339), humanize.Comma(int64(documents-b.Expire)))
	}
	return err
}
