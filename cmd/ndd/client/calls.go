package client

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// A Document is what a call is about: exactly one of a fingerprint, a text and a page, and to be
// stored, an ID.
type Document struct {
	ID          string `json:"id,omitempty"`          // such as its URL; to be stored; "" for an index without IDs
	Fingerprint string `json:"fingerprint,omitempty"` // 16 hexadecimal digits
	Text        string `json:"text,omitempty"`
	HTML        string `json:"html,omitempty"`
	// how long it is kept, such as 90d, 36h, 10m, 30s or forever; "": as the call says
	TTL string `json:"ttl,omitempty"`
}

// A Hit is a stored fingerprint near the one asked for.
type Hit struct {
	Fingerprint string   `json:"fingerprint"`
	Distance    int      `json:"distance"`  // bits in which it differs
	Documents   int      `json:"documents"` // how many have it
	IDs         []string `json:"ids"`       // of the first of them
}

// Neighbours are the stored fingerprints near another, nearest first.
type Neighbours struct {
	Fingerprint string `json:"fingerprint"` // of what was asked for
	K           int    `json:"k"`
	Documents   int    `json:"documents"` // of all hits
	Truncated   bool   `json:"truncated"` // there are more IDs than the limit
	Hits        []Hit  `json:"hits"`
}

// QueryOptions limits a query. The zero value stands for the defaults of the index.
type QueryOptions struct {
	K     *int // largest distance; nil: the index's own
	Limit int  // of IDs; 0: the server's own, 1,000
}

// Query returns the stored documents within a distance of a document.
func (c *Client) Query(ctx context.Context, d Document, o QueryOptions) (*Neighbours, error) {
	d.ID, d.TTL = "", ""
	return ask[Neighbours](ctx, c, call{path: "/v1/query", query: o.values(), body: d})
}

// StoreOptions say how documents are stored. The zero value stores them as the server was started
// to.
type StoreOptions struct {
	OnConflict string        // what becomes of a document whose ID is taken: replace, keep or error; "": the server's own
	TTL        time.Duration // how long it is kept, in whole seconds; 0: the server's own; negative: for ever
}

// An Insertion says what became of a document.
type Insertion struct {
	Status      int     `json:"status"` // of a list: as of a call for this document alone
	Error       string  `json:"error"`  // of a list: why it was not stored
	Inserted    bool    `json:"inserted"`
	ID          string  `json:"id"`
	Number      *uint64 `json:"number"` // of the document in the index
	Fingerprint string  `json:"fingerprint"`
	Replaced    bool    `json:"replaced"` // it took the place of a document with its ID
	Kept        bool    `json:"kept"`     // it was not stored, since its ID is taken
}

// Insert stores a document.
func (c *Client) Insert(ctx context.Context, d Document, o StoreOptions) (*Insertion, error) {
	return ask[Insertion](ctx, c, call{path: "/v1/insert", query: o.values(), body: d, changes: true})
}

// InsertAll stores documents, at most as many as the server takes in one call (4,096), and returns
// what became of each, in order: one that cannot be stored keeps no other out.
func (c *Client) InsertAll(ctx context.Context, list []Document, o StoreOptions) ([]Insertion, error) {
	return results[Insertion](ctx, c, "/v1/insert", o.values(), list)
}

// CheckOptions say when a document counts as a near-duplicate, and how it is stored.
type CheckOptions struct {
	QueryOptions
	StoreOptions
}

// A Decision is the outcome of a document: it was stored, or Hits lists its near-duplicates.
type Decision struct {
	Insertion
	K         int   `json:"k"`
	Documents int   `json:"documents"`
	Truncated bool  `json:"truncated"`
	Hits      []Hit `json:"hits"`
}

// CheckAndInsert stores a document unless a near-duplicate is stored. Of two near-duplicates that
// come at the same time exactly one is stored.
func (c *Client) CheckAndInsert(ctx context.Context, d Document, o CheckOptions) (*Decision, error) {
	return ask[Decision](ctx, c, call{path: "/v1/check-and-insert", query: o.values(), body: d, changes: true})
}

// CheckAndInsertAll is CheckAndInsert for each document of a list in order, at most as many as the
// server takes in one call (4,096), which are near each other, too. It returns what became of each.
func (c *Client) CheckAndInsertAll(ctx context.Context, list []Document, o CheckOptions) ([]Decision, error) {
	return results[Decision](ctx, c, "/v1/check-and-insert", o.values(), list)
}

// results makes a call for a list of documents, unless it is empty.
func results[T any](ctx context.Context, c *Client, path string, query url.Values, list []Document) ([]T, error) {
	if len(list) == 0 {
		return nil, nil
	}
	a, err := ask[struct {
		Results []T `json:"results"`
	}](ctx, c, call{path: path, query: query, body: map[string]any{"documents": list}, changes: true})
	if err != nil {
		return nil, err
	}
	return a.Results, nil
}

// Delete deletes the documents with these IDs and returns how many there were.
func (c *Client) Delete(ctx context.Context, ids ...string) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	return c.delete(ctx, call{path: "/v1/delete", body: map[string]any{"ids": ids}})
}

// DeleteFingerprint deletes the documents with exactly this fingerprint and returns how many there
// were.
func (c *Client) DeleteFingerprint(ctx context.Context, fingerprint string) (int, error) {
	return c.delete(ctx, call{path: "/v1/delete", body: map[string]any{"fingerprint": fingerprint}})
}

// DeletePrefix deletes the documents whose IDs begin with a prefix and returns how many there were.
// It needs a token of role admin where there are tokens.
func (c *Client) DeletePrefix(ctx context.Context, prefix string) (int, error) {
	return c.delete(ctx, call{method: http.MethodDelete, path: "/v1/documents", query: url.Values{"prefix": {prefix}}})
}

func (c *Client) delete(ctx context.Context, of call) (int, error) {
	of.changes = true
	a, err := ask[struct {
		Deleted int `json:"deleted"`
	}](ctx, c, of)
	if err != nil {
		return 0, err
	}
	return a.Deleted, nil
}

// A Stored is a document of the index.
type Stored struct {
	ID     string `json:"id"`
	Number uint64 `json:"number"`
}

// Find returns the document that has an ID; ok is false if none has.
func (c *Client) Find(ctx context.Context, id string) (d Stored, ok bool, err error) {
	a, err := ask[Stored](ctx, c, call{path: "/v1/documents/" + url.PathEscape(id)})
	var p *Problem
	switch {
	case errors.As(err, &p) && p.Status == http.StatusNotFound:
		return Stored{}, false, nil
	case err != nil:
		return Stored{}, false, err
	}
	return *a, true, nil
}

// List yields the documents whose IDs begin with a prefix, "" for all, in order of their numbers.
// It asks for them page by page, so that documents that are inserted or deleted meanwhile may be
// left out or not. An error ends it.
func (c *Client) List(ctx context.Context, prefix string) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		values := url.Values{"limit": {"65536"}}
		if prefix != "" {
			values.Set("prefix", prefix)
		}
		for {
			a, err := ask[struct {
				Documents []Stored `json:"documents"`
				Next      string   `json:"next"`
			}](ctx, c, call{path: "/v1/documents", query: values})
			if err != nil {
				yield(Stored{}, err)
				return
			}
			for _, d := range a.Documents {
				if !yield(d, nil) {
					return
				}
			}
			if a.Next == "" {
				return
			}
			values.Set("cursor", a.Next)
		}
	}
}

// Stats are sizes of the index. /openapi.json of the server describes more.
type Stats struct {
	Documents    uint64  `json:"documents"`
	Fingerprints uint64  `json:"fingerprints"`
	Segments     int     `json:"segments"`
	Buffered     uint64  `json:"buffered"`
	TableBytes   uint64  `json:"table_bytes"`
	K            int     `json:"k"`
	Design       string  `json:"design"`
	Tables       int     `json:"tables"`
	IDs          bool    `json:"ids"`
	Durable      bool    `json:"durable"`
	Version      string  `json:"version"`
	Uptime       float64 `json:"uptime_seconds"`
}

// Stats returns the sizes of the index.
func (c *Client) Stats(ctx context.Context) (*Stats, error) {
	return ask[Stats](ctx, c, call{path: "/v1/stats"})
}

// Ready returns nil when queries are answered. It waits, as every call does, for a server that is
// starting.
func (c *Client) Ready(ctx context.Context) error {
	_, err := ask[struct{}](ctx, c, call{path: "/readyz"})
	return err
}

// values returns the query parameters of the options that are set.
func (o CheckOptions) values() url.Values {
	values := url.Values{}
	if o.K != nil {
		values.Set("k", strconv.Itoa(*o.K))
	}
	if o.Limit > 0 {
		values.Set("limit", strconv.Itoa(o.Limit))
	}
	if o.OnConflict != "" {
		values.Set("on_conflict", o.OnConflict)
	}
	if o.TTL != 0 {
		values.Set("ttl", ttl(o.TTL))
	}
	return values
}

func (o QueryOptions) values() url.Values { return CheckOptions{QueryOptions: o}.values() }
func (o StoreOptions) values() url.Values { return CheckOptions{StoreOptions: o}.values() }

// ttl returns a time as the server takes it: six digits at most, and not shorter than it was.
func ttl(d time.Duration) string {
	if d < 0 {
		return "forever"
	}
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{time.Second, "s"}, {time.Minute, "m"}, {time.Hour, "h"}} {
		if n := (d + unit.size - 1) / unit.size; n < 1e6 {
			return strconv.FormatInt(int64(n), 10) + unit.name
		}
	}
	return "forever" // beyond a century
}

// A Row is one document near one fingerprint of a batch.
type Row struct {
	Query       int    `json:"query"` // place of the fingerprint in the batch, from 0
	Fingerprint string `json:"fingerprint"`
	Distance    int    `json:"distance"`
	ID          string `json:"id"`
}

// rowMax is more than the longest line of an answer: an ID of 32 KiB, as an index built of files
// may have them, each byte of it escaped with six.
const rowMax = 256 << 10

// Batch returns the documents stored near fingerprints, at most as many as the server takes in one
// call (65,536), in order of the fingerprints, and for each the nearest first; with unique, one row
// for each stored fingerprint. Rows are read as they come. An answer that breaks off ends with an
// error.
func (c *Client) Batch(ctx context.Context, fingerprints []uint64, k *int, unique bool) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if len(fingerprints) == 0 {
			return
		}
		body := make([]byte, 0, 8*len(fingerprints))
		for _, f := range fingerprints {
			body = binary.LittleEndian.AppendUint64(body, f)
		}
		query := QueryOptions{K: k}.values()
		if unique {
			query.Set("unique", "true")
		}
		a, err := c.do(ctx, &call{path: "/v1/batch", query: query, body: body, accept: "application/x-ndjson"})
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
