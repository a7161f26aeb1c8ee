package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"ndd/cmd/ndd/client"
)

// errNothingChanged is what a change returns that the server has answered, and not made.
var errNothingChanged = errors.New("nothing changed")

// change makes a request that changes something. When it is answered the model follows; otherwise settle finds out.
func (c *crawler) change(kind string, of *change, request func() error) error {
	err := request()
	switch {
	case err == nil:
		c.count[kind]++
		c.apply(of)
	case errors.Is(err, errNothingChanged):
		c.count[kind]++
		return nil
	default:
		c.open = of
		var p *client.Problem
		of.refused = errors.As(err, &p)
		return c.unanswered(kind, err)
	}
	return nil
}

// unanswered says what is wrong with an error, if it is none that a server gives which was killed, or is busy. It returns the error.
func (c *crawler) unanswered(kind string, err error) error {
	var p *client.Problem
	if errors.As(err, &p) && p.Status != http.StatusTooManyRequests && p.Status != http.StatusServiceUnavailable {
		c.day.wrong("%s: %v", kind, err)
	}
	return err
}

// settle asks what became of a change that was not answered: it was made whole or not at all, and not if the server has said so.
func (c *crawler) settle(ctx context.Context, s *client.Client) error {
	if c.open == nil {
		return nil
	}
	of, asked := c.open, time.Now()
	found, err := lookUp(ctx, s, append(append([]*dayDoc(nil), of.come...), of.leave...))
	if err != nil {
		return err
	}
	came := time.Now()
	made, unmade, done := 0, 0, &change{}
	for i, d := range of.come {
		switch must, _ := d.presence(asked, came); {
		case found[i]:
			made++
			done.come = append(done.come, d)
		case must:
			unmade++
		}
	}
	for i, d := range of.leave {
		switch must, _ := d.presence(asked, came); {
		case found[len(of.come)+i]:
			unmade++
		default:
			done.leave = append(done.leave, d)
			if must {
				made++
			}
		}
	}
	if made > 0 && unmade > 0 {
		c.day.wrong("of a request without an answer, for %d documents and against %d, a part was carried out", len(of.come), len(of.leave))
	}
	if made > 0 && of.refused {
		c.day.wrong("a request that was refused was carried out")
	}
	c.apply(done)
	c.open = nil
	return nil
}

// verify asks for all documents that there must be, and for those that must not be.
func (c *crawler) verify(ctx context.Context, s *client.Client) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire()
	if err := c.settle(ctx, s); err != nil {
		return err
	}
	all, asked := append(append([]*dayDoc(nil), c.list...), c.gone...), time.Now()
	found, err := lookUp(ctx, s, all)
	if err != nil {
		return err
	}
	for i, d := range all {
		must, _ := d.presence(asked, time.Now())
		switch {
		case i < len(c.list) && must && !found[i]:
			c.day.lost.Add(1)
			c.day.wrong("%s with %016x was stored, and is lost", d.id, d.print)
		case i >= len(c.list) && found[i] && (c.docs[d.id] == nil || c.docs[d.id].print != d.print):
			c.day.wrong("%s with %016x was gone, and is there again", d.id, d.print)
		}
	}
	return nil
}

// lookUp says of each document whether it is stored.
func lookUp(ctx context.Context, s *client.Client, docs []*dayDoc) ([]bool, error) {
	const most = 50_000 // fingerprints a batch
	found, exactly := make([]bool, len(docs)), 0
	for from := 0; from < len(docs); from += most {
		part := docs[from:min(from+most, len(docs))]
		prints := make([]uint64, len(part))
		for i, d := range part {
			prints[i] = d.print
		}
		for row, err := range s.Batch(ctx, prints, &exactly, false) {
			if err != nil {
				return nil, err
			}
			if row.ID == part[row.Query].id {
				found[from+row.Query] = true
			}
		}
	}
	return found, nil
}

// apply changes the model.
func (c *crawler) apply(of *change) {
	for _, d := range of.leave {
		if c.docs[d.id] == d {
			c.remove(d)
		}
	}
	for _, d := range of.come {
		if d.ttl > 0 {
			d.late = time.Now().Add(d.ttl)
			c.brief = append(c.brief, d)
		}
		c.docs[d.id] = d
		d.at = len(c.list)
		c.list = append(c.list, d)
	}
}

func (c *crawler) remove(d *dayDoc) {
	delete(c.docs, d.id)
	last := c.list[len(c.list)-1]
	c.list[d.at], last.at = last, d.at
	c.list = c.list[:len(c.list)-1]
	c.gone = append(c.gone, d)
	if len(c.gone) > 2*dayGone {
		c.gone = append([]*dayDoc(nil), c.gone[dayGone:]...)
	}
}

// expire takes documents out of the model whose time is over.
func (c *crawler) expire() {
	for len(c.brief) > 0 && time.Since(c.brief[0].late) > daySlack {
		if d := c.brief[0]; c.docs[d.id] == d {
			c.remove(d)
		}
		c.brief = c.brief[1:]
	}
}
