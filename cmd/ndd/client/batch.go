package client

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
)

// A Row is one document near one fingerprint of a batch.
type Row struct {
	Query       int    `json:"query"` // place of the fingerprint in the batch, from 0
	Fingerprint string `json:"fingerprint"`
	Distance    int    `json:"distance"`
	ID          string `json:"id"`
}

// rowMax is more than the longest line of an answer: an ID of 32 KiB, as an index built of files may have them, each byte of
// it escaped with six.
const rowMax = 256 << 10

// Batch returns what is stored near fingerprints, at most as many as the server takes in one call (65,536), in order
// of the fingerprints, and for each the nearest first; with unique, one row for each stored fingerprint. Rows are
// read as they come. An answer that breaks off ends with an error.
func (c *Client) Batch(ctx context.Context, fingerprints []uint64, k *int, unique bool) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if len(fingerprints) == 0 {
			return
		}
		body := make([]byte, 0, 8*len(fingerprints))
		for _, f := range fingerprints {
			body = binary.LittleEndian.AppendUint64(body, f)
		}
		a, err := c.do(ctx, &call{http.MethodPost, "/v1/batch" + parameters{k: k, unique: unique}.String(), "application/octet-stream", "application/x-ndjson", body, true})
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer a.Body.Close()
		lines := bufio.NewScanner(a.Body)
		lines.Buffer(nil, rowMax)
		for lines.Scan() {
			var r Row
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				yield(Row{}, fmt.Errorf("batch: a row that is none: %w", err))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Row{}, fmt.Errorf("batch: the answer broke off: %w", err))
		}
	}
}
