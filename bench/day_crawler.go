package main

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"sync"
	"time"

	"ndd/cmd/ndd/client"
)

const (
	// dayDocuments are what a crawler holds before it deletes as much as it inserts. Its model is searched by a scan.
	dayDocuments = 20_000
	// dayGone are the last deleted documents of a crawler, which must stay away.
	dayGone = 5000
	// daySlack is by how much a document may live shorter or longer than it was told to: times are whole seconds, and the clocks of
	// a question and an answer differ.
	daySlack = 2 * time.Second
	// dayTTLMax is the longest time to live.
	dayTTLMax = 20 * time.Second
)

// A dayDoc is a document that a crawler has stored.
type dayDoc struct {
	id    string
	print uint64
	ttl   time.Duration // 0 for ever
	until time.Time     // it is there until then at least
	late  time.Time     // and not after this
	at    int           // among the crawler's
}

// presence says whether the document must be in an answer that was asked for and came at these times, and whether it may be.
func (d *dayDoc) presence(asked, came time.Time) (must, may bool) {
	if d.ttl == 0 {
		return true, true
	}
	return came.Before(d.until.Add(-daySlack)), asked.Before(d.late.Add(daySlack))
}

// A change is one request that makes documents come and go, whole or not at all.
type change struct {
	come, leave []*dayDoc
	refused     bool // the server has said that it was not carried out
}

// A crawler sends one request after the other, knows what must be answered, and notes what was answered otherwise. Fingerprints
// of two crawlers differ in at least 8 bits, so that each knows all that is near its own.
type crawler struct {
	day    *rollingDay
	number int
	high   uint64 // the upper 16 bits of its fingerprints
	rng    *rand.Rand

	mu    sync.Mutex // held for each request, and while all is verified
	docs  map[string]*dayDoc
	list  []*dayDoc
	gone  []*dayDoc
	brief []*dayDoc // that have a time to live, in the order in which they came
	open  *change   // a request that may have been carried out
	next  int
	count map[string]int // of requests that were answered, by kind
}

// codewords of 16 bits: any two differ in 8 of them or all (a Walsh code).
var codewords = [8]uint64{0x0000, 0x5555, 0x3333, 0x6666, 0x0f0f, 0x5a5a, 0x3c3c, 0x6969}

func newCrawler(day *rollingDay, number int) *crawler {
	return &crawler{day: day, number: number, high: codewords[number%len(codewords)] << 48, rng: rand.New(rand.NewPCG(day.seed, uint64(number))), docs: map[string]*dayDoc{}, count: map[string]int{}}
}

// run makes requests until ctx ends.
func (c *crawler) run(ctx context.Context) {
	for ctx.Err() == nil {
		server := c.day.up(ctx)
		if server == nil {
			return
		}
		c.mu.Lock()
		c.expire()
		err := c.settle(ctx, server)
		if err == nil {
			err = c.request(ctx, server)
		}
		c.mu.Unlock()
		if err != nil {
			sleep(ctx, 10*time.Millisecond) // it was killed, or is busy
		}
	}
}

// request makes one request at random. The error is about a server that does not answer.
func (c *crawler) request(ctx context.Context, s *client.Client) error {
	full := len(c.list) >= dayDocuments
	switch p := c.rng.IntN(100); {
	case p < 20 && !full:
		return c.insert(ctx, s, "insert", 1, client.StoreOptions{})
	case p < 25 && !full:
		return c.insert(ctx, s, "insert of a list", 1+c.rng.IntN(50), client.StoreOptions{})
	case p < 28:
		return c.insert(ctx, s, "insert with a time to live", 1, client.StoreOptions{TTL: time.Duration(1+c.rng.IntN(int(dayTTLMax/time.Second))) * time.Second})
	case p < 32 && len(c.list) > 0:
		return c.replace(ctx, s)
	case p < 60 && !full:
		return c.check(ctx, s)
	case p < 65 || full && p < 75:
		return c.delete(ctx, s)
	case p < 68:
		return c.batch(ctx, s)
	default:
		return c.query(ctx, s)
	}
}

// fresh returns a document that is not there: near a stored one, the same as one, or neither.
func (c *crawler) fresh() *dayDoc {
	c.next++
	print := c.rng.Uint64()>>16 | c.high
	if p := c.rng.IntN(4); p > 0 && len(c.list) > 0 {
		print = c.list[c.rng.IntN(len(c.list))].print
		for range c.rng.IntN(6) { // up to 5 bits: some of them too many
			print ^= 1 << c.rng.IntN(48)
		}
	}
	return &dayDoc{id: fmt.Sprintf("crawler-%d/%d", c.number, c.next), print: print}
}

func (d *dayDoc) document() client.Document {
	return client.Document{ID: d.id, Fingerprint: fmt.Sprintf("%016x", d.print)}
}

func (c *crawler) insert(ctx context.Context, s *client.Client, kind string, n int, o client.StoreOptions) error {
	var docs []*dayDoc
	var list []client.Document
	for range n {
		d := c.fresh()
		if d.ttl = o.TTL; d.ttl > 0 {
			d.until = time.Now().Add(d.ttl)
		}
		docs, list = append(docs, d), append(list, d.document())
	}
	var stored []client.Insertion
	err := c.change(kind, &change{come: docs}, func() (err error) {
		if n == 1 {
			var one *client.Insertion
			if one, err = s.Insert(ctx, list[0], o); err == nil {
				stored = []client.Insertion{*one}
			}
			return err
		}
		stored, err = s.InsertAll(ctx, list, o)
		return err
	})
	for i := range stored {
		if !stored[i].Inserted || stored[i].Replaced || stored[i].Fingerprint != list[i].Fingerprint {
			c.day.wrong("%s: a new document %+v was answered %+v", kind, list[i], stored[i])
		}
	}
	return err
}

// replace stores another document under an ID that is taken.
func (c *crawler) replace(ctx context.Context, s *client.Client) error {
	old := c.list[c.rng.IntN(len(c.list))]
	d := c.fresh()
	if d.id = old.id; d.print == old.print {
		d.print ^= 1
	}
	asked := time.Now()
	var stored *client.Insertion
	err := c.change("insert under a taken ID", &change{come: []*dayDoc{d}, leave: []*dayDoc{old}}, func() (err error) {
		stored, err = s.Insert(ctx, d.document(), client.StoreOptions{})
		return err
	})
	if must, _ := old.presence(asked, time.Now()); stored != nil && (!stored.Inserted || must && !stored.Replaced) {
		c.day.wrong("the document %s was there, and the answer was %+v", old.id, stored)
	}
	return err
}

func (c *crawler) check(ctx context.Context, s *client.Client) error {
	d := c.fresh()
	k := c.rng.IntN(distance + 1)
	asked := time.Now()
	near := c.near(d.print, k)
	var a *client.Decision
	err := c.change("check-and-insert", &change{come: []*dayDoc{d}}, func() (err error) {
		if a, err = s.CheckAndInsert(ctx, d.document(), client.CheckOptions{QueryOptions: client.QueryOptions{K: &k, Limit: 10_000}}); err == nil && !a.Inserted {
			return errNothingChanged
		}
		return err
	})
	if a != nil {
		must, may := false, false
		for _, n := range near {
			is, can := n.presence(asked, time.Now())
			must, may = must || is, may || can
		}
		if a.Inserted && must || !a.Inserted && !may {
			c.day.wrong("check-and-insert of %016x within %d bits: %d documents are near, and the answer was %+v", d.print, k, len(near), a)
		}
		if !a.Inserted {
			c.compare("check-and-insert", near, k, d.print, a.Hits, asked)
		}
	}
	return err
}

func (c *crawler) delete(ctx context.Context, s *client.Client) error {
	if len(c.list) == 0 {
		return nil
	}
	d := c.list[c.rng.IntN(len(c.list))]
	asked := time.Now()
	docs, kind := []*dayDoc{d}, "deletion"
	if c.rng.IntN(4) == 0 {
		docs, kind = c.near(d.print, 0), "deletion by fingerprint"
	}
	n := -1
	err := c.change(kind, &change{leave: docs}, func() (err error) {
		if kind == "deletion" {
			n, err = s.Delete(ctx, d.id)
		} else {
			n, err = s.DeleteFingerprint(ctx, d.document().Fingerprint)
		}
		return err
	})
	must := 0
	for _, d := range docs {
		if is, _ := d.presence(asked, time.Now()); is {
			must++
		}
	}
	if err == nil && (n < must || n > len(docs)) {
		c.day.wrong("%s of %016x: %d of %d documents", kind, d.print, n, len(docs))
	}
	return err
}

// query asks for what is near a fingerprint, and demands what the model has.
func (c *crawler) query(ctx context.Context, s *client.Client) error {
	f, k := c.fresh().print, c.rng.IntN(distance+1)
	near, asked := c.near(f, k), time.Now()
	a, err := s.Query(ctx, client.Document{Fingerprint: fmt.Sprintf("%016x", f)}, client.QueryOptions{K: &k, Limit: 10_000})
	if err != nil {
		return c.unanswered("query", err)
	}
	c.count["query"]++
	c.compare("query", near, k, f, a.Hits, asked)
	return nil
}

// compare holds hits against the documents that are near.
func (c *crawler) compare(kind string, near []*dayDoc, k int, f uint64, hits []client.Hit, asked time.Time) {
	came, want := time.Now(), map[string]*dayDoc{}
	for _, d := range near {
		want[d.id] = d
	}
	for _, h := range hits {
		for _, id := range h.IDs {
			d := want[id]
			if d == nil || h.Fingerprint != fmt.Sprintf("%016x", d.print) || h.Distance != bits.OnesCount64(d.print^f) {
				c.day.wrong("%s of %016x within %d bits: %s at %d bits is none of the %d documents that are near", kind, f, k, id, h.Distance, len(near))
				continue
			}
			delete(want, id)
			if _, may := d.presence(asked, came); !may {
				c.day.wrong("%s: %s was found %v after its time", kind, id, asked.Sub(d.late))
			}
		}
	}
	for _, d := range want {
		if must, _ := d.presence(asked, came); must {
			c.day.wrong("%s of %016x within %d bits: %s with %016x was not found", kind, f, k, d.id, d.print)
		}
	}
}

// batch asks for some of its own documents at once.
func (c *crawler) batch(ctx context.Context, s *client.Client) error {
	docs := make([]*dayDoc, 0, 64)
	for range min(64, len(c.list)) {
		docs = append(docs, c.list[c.rng.IntN(len(c.list))])
	}
	asked := time.Now()
	found, err := lookUp(ctx, s, docs)
	if err != nil {
		return c.unanswered("batch", err)
	}
	c.count["batch"]++
	for i, d := range docs {
		if must, _ := d.presence(asked, time.Now()); must && !found[i] {
			c.day.wrong("batch: %s with %016x was not found", d.id, d.print)
		}
	}
	return nil
}

// near returns the documents within k bits, those among them whose time is over: nobody has said yet that they have gone.
func (c *crawler) near(f uint64, k int) (near []*dayDoc) {
	for _, d := range c.list {
		if bits.OnesCount64(d.print^f) <= k {
			near = append(near, d)
		}
	}
	return near
}
