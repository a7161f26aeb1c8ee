package client

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// A Document is what a call is about: exactly one of a fingerprint, a text and a page, and to be stored, an ID.
type Document struct {
	ID          string `json:"id,omitempty"`          // such as its URL; to be stored; "" for an index without IDs
	Fingerprint string `json:"fingerprint,omitempty"` // 16 hexadecimal digits, or twice 16 with a comma where documents have two fingerprints
	Text        string `json:"text,omitempty"`
	HTML        string `json:"html,omitempty"`
}

// A Hit is a stored fingerprint near the one asked for.
type Hit struct {
	Fingerprint string   `json:"fingerprint"`
	Distance    int      `json:"distance"`  // bits in which it differs
	Documents   int      `json:"documents"` // how many have it
	IDs         []string `json:"ids"`       // of the first of them
}

// Neighbours are what is near a fingerprint, nearest first.
type Neighbours struct {
	Fingerprint string `json:"fingerprint"` // of what was asked for
	K           int    `json:"k"`
	Documents   int    `json:"documents"` // of all hits
	Truncated   bool   `json:"truncated"` // there are more IDs than the limit
	Hits        []Hit  `json:"hits"`
}

// QueryOptions say what is asked for. The zero value asks for what the index was made for.
type QueryOptions struct {
	K     *int // largest distance; nil: the index's own
	Limit int  // of IDs; 0: the server's own, 1,000
}

// Query returns what is stored within a distance of a document.
func (c *Client) Query(ctx context.Context, d Document, o QueryOptions) (*Neighbours, error) {
	d.ID = ""
	return ask[Neighbours](ctx, c, "/v1/query"+parameters{k: o.K, limit: o.Limit}.String(), true, d)
}

// StoreOptions say how documents are stored. The zero value stores them as the server was started to.
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
	return ask[Insertion](ctx, c, "/v1/insert"+o.parameters().String(), false, d)
}

// InsertAll stores documents, at most as many as the server takes in one call (4,096), and returns what became of
// each, in order: one that cannot be stored keeps no other out.
func (c *Client) InsertAll(ctx context.Context, list []Document, o StoreOptions) ([]Insertion, error) {
	if len(list) == 0 {
		return nil, nil
	}
	return results[Insertion](ctx, c, "/v1/insert"+o.parameters().String(), list)
}

// CheckOptions say when a document counts as a near-duplicate, and how it is stored.
type CheckOptions struct {
	QueryOptions
	StoreOptions
}

// A Decision says what became of a document: it was stored, or Hits has what is near it.
type Decision struct {
	Insertion
	K         int   `json:"k"`
	Documents int   `json:"documents"`
	Truncated bool  `json:"truncated"`
	Hits      []Hit `json:"hits"`
}

// CheckAndInsert stores a document unless a near-duplicate is stored. Of two near-duplicates that come at the same
// time exactly one is stored.
func (c *Client) CheckAndInsert(ctx context.Context, d Document, o CheckOptions) (*Decision, error) {
	return ask[Decision](ctx, c, "/v1/check-and-insert"+o.parameters().String(), false, d)
}

// CheckAndInsertAll is CheckAndInsert for each document of a list in order, at most as many as the server takes in
// one call (4,096), which are near each other, too. It returns what became of each.
func (c *Client) CheckAndInsertAll(ctx context.Context, list []Document, o CheckOptions) ([]Decision, error) {
	if len(list) == 0 {
		return nil, nil
	}
	return results[Decision](ctx, c, "/v1/check-and-insert"+o.parameters().String(), list)
}

func results[T any](ctx context.Context, c *Client, path string, list []Document) ([]T, error) {
	a, err := ask[struct {
		Results []T `json:"results"`
	}](ctx, c, path, false, map[string]any{"documents": list})
	if err != nil {
		return nil, err
	}
	return a.Results, nil
}

// deleted is the answer to a deletion.
type deleted struct {
	Deleted int `json:"deleted"`
}

// Delete deletes the documents with these IDs and returns how many there were.
func (c *Client) Delete(ctx context.Context, ids ...string) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	a, err := ask[deleted](ctx, c, "/v1/delete", false, map[string]any{"ids": ids})
	if err != nil {
		return 0, err
	}
	return a.Deleted, nil
}

// DeleteFingerprint deletes the documents with exactly this fingerprint and returns how many there were.
func (c *Client) DeleteFingerprint(ctx context.Context, fingerprint string) (int, error) {
	a, err := ask[deleted](ctx, c, "/v1/delete", false, map[string]any{"fingerprint": fingerprint})
	if err != nil {
		return 0, err
	}
	return a.Deleted, nil
}

// A Comparison says how near two documents are.
type Comparison struct {
	Near     bool   `json:"near"`
	K        int    `json:"k"`
	Distance int    `json:"distance"`
	Bits     []int  `json:"bits"` // that differ, the leading one, 63, first
	A        string `json:"a"`    // their fingerprints
	B        string `json:"b"`
	Texts    *Texts `json:"texts"` // nil where one of them is a fingerprint
}

// Texts say what two texts share: rows of 3 words, or of 5 characters.
type Texts struct {
	Shared  int       `json:"shared_shingles"`
	Jaccard float64   `json:"jaccard"`
	AInB    float64   `json:"a_in_b"`
	BInA    float64   `json:"b_in_a"`
	OnlyA   []Passage `json:"only_a"`
	OnlyB   []Passage `json:"only_b"`
}

// A Passage is a part of a text that the other one has not.
type Passage struct {
	Start int    `json:"start"` // bytes of the text
	End   int    `json:"end"`
	Words int    `json:"words"`
	Text  string `json:"text"`
}

// Compare compares two documents, neither of which needs to be stored.
func (c *Client) Compare(ctx context.Context, a, b Document, k *int) (*Comparison, error) {
	a.ID, b.ID = "", ""
	return ask[Comparison](ctx, c, "/v1/compare"+parameters{k: k}.String(), true, map[string]any{"a": a, "b": b})
}

// A Backup says what a backup has.
type Backup struct {
	Name    string  `json:"name"`
	Files   int     `json:"files"`        // of segments, and the manifest
	Linked  uint64  `json:"linked_bytes"` // that it shares with the index
	Copied  uint64  `json:"copied_bytes"`
	Records uint64  `json:"log_records"`
	Seconds float64 `json:"seconds"` // that it took
}

// Backup has the server make a backup of that name in the folder of its flag --backup-dir, with all that was acknowledged before
// the call. It needs a token of role admin where there are tokens. A name that is taken is a *Problem of status 409.
func (c *Client) Backup(ctx context.Context, name string) (*Backup, error) {
	return ask[Backup](ctx, c, "/v1/backup", false, map[string]any{"name": name})
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
	return ask[Stats](ctx, c, "/v1/stats", true, nil)
}

// Ready returns nil when queries are answered. It waits, as every call does, for a server that is starting.
func (c *Client) Ready(ctx context.Context) error {
	_, err := ask[struct{}](ctx, c, "/readyz", true, nil)
	return err
}

// parameters are those of a call's URL.
type parameters struct {
	k          *int
	limit      int
	onConflict string
	ttl        time.Duration
	unique     bool
}

func (o StoreOptions) parameters() parameters {
	return parameters{onConflict: o.OnConflict, ttl: o.TTL}
}

func (o CheckOptions) parameters() parameters {
	return parameters{o.K, o.Limit, o.OnConflict, o.TTL, false}
}

// String returns them with their question mark, "" where there are none.
func (p parameters) String() string {
	values := url.Values{}
	if p.k != nil {
		values.Set("k", strconv.Itoa(*p.k))
	}
	if p.limit > 0 {
		values.Set("limit", strconv.Itoa(p.limit))
	}
	if p.onConflict != "" {
		values.Set("on_conflict", p.onConflict)
	}
	if p.unique {
		values.Set("unique", "true")
	}
	if p.ttl != 0 {
		values.Set("ttl", ttl(p.ttl))
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

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
