// Package client talks to a server of `ndd serve`.
//
//	c := client.New("http://127.0.0.1:7744", client.Options{})
//	a, err := c.CheckAndInsert(ctx, client.Document{ID: url, HTML: page}, client.CheckOptions{})
//	switch {
//	case err != nil:
//	case a.Inserted: // new
//	default: // a near-duplicate of a.Hits[0].IDs[0], at a.Hits[0].Distance bits
//	}
//
// A call that the server did not carry out because it has too much to do, is starting or stopping,
// or has no room (429, 503, 507), is made again after the time that the server names, as long as
// its context lasts and at most Options.Tries times. So is a call that only asks, after a
// connection that broke. A change whose connection broke is not made again, since it may have been
// carried out: its error says so to [Unknown].
//
// A Client is safe for many goroutines. It uses package net/http and nothing of the engine.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	triesDefault = 5
	waitFirst    = 100 * time.Millisecond // where the server names no time; doubled with each try
	waitMax      = 10 * time.Second
	answerMax    = 256 << 20 // bytes of an answer that is read whole
)

// Options say how to talk to a server. The zero value is for one that asks for no token.
type Options struct {
	Token string       // bearer token, where the server asks for one
	HTTP  *http.Client // default: http.DefaultClient
	Tries int          // how often a call is made at most; default 5, 1 for no repetition
}

// A Client makes calls to one server.
type Client struct {
	url string
	o   Options
}

// New returns a client of the server at a URL, such as http://127.0.0.1:7744. It does not connect.
func New(server string, o Options) *Client {
	o.HTTP = cmp.Or(o.HTTP, http.DefaultClient)
	o.Tries = max(1, cmp.Or(o.Tries, triesDefault))
	return &Client{strings.TrimSuffix(server, "/"), o}
}

// A Problem is what the server answers instead of a result, as RFC 9457 has it.
type Problem struct {
	Status     int           `json:"status"`
	Title      string        `json:"title"`
	Detail     string        `json:"detail"`
	Errors     []FieldError  `json:"errors"`
	RetryAfter time.Duration `json:"-"` // 0 where trying again does not help
}

// A FieldError describes the mistake in one field of a request.
type FieldError struct {
	Location string `json:"location"`
	Message  string `json:"message"`
}

// Error returns the status, the reason, and the fields at fault.
func (p *Problem) Error() string {
	text := fmt.Sprintf("%d %s: %s", p.Status, p.Title, p.Detail)
	for _, e := range p.Errors {
		if !strings.Contains(p.Detail, e.Message) {
			text += fmt.Sprintf("; %s: %s", e.Location, e.Message)
		}
	}
	return text
}

// errUnknown marks errors of calls that may have been carried out.
var errUnknown = errors.New("no answer")

// Unknown reports whether an error leaves open if the call was carried out: the connection broke,
// or the context ended, before the answer came.
func Unknown(err error) bool { return errors.Is(err, errUnknown) }

// A call is one request. Its zero values are those of a GET that changes nothing.
type call struct {
	method  string // of a call with a body "" is POST
	path    string
	query   url.Values
	body    any // sent as JSON, or []byte as it is; nil for none
	accept  string
	changes bool // it may change the index
}

// do makes a call until it is answered, and returns the answer, whose body the caller closes.
func (c *Client) do(ctx context.Context, of *call) (*http.Response, error) {
	for try, wait := 1, waitFirst; ; try, wait = try+1, min(2*wait, waitMax) {
		a, err := c.send(ctx, of)
		var p *Problem
		switch {
		case err == nil:
			return a, nil
		case ctx.Err() != nil && errors.As(err, &p):
			return nil, fmt.Errorf("%w, after %w", ctx.Err(), err)
		case ctx.Err() != nil || try >= c.o.Tries:
			return nil, err
		case errors.As(err, &p) && p.RetryAfter > 0:
			wait = p.RetryAfter
		case p != nil || of.changes:
			return nil, err
		}
		// A part of chance keeps clients that were refused together from coming back together.
		timer := time.NewTimer(wait + rand.N(wait/4+1))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w, after %w", ctx.Err(), err)
		}
	}
}

// send makes a call once. The error is a *Problem where the server answered.
func (c *Client) send(ctx context.Context, of *call) (*http.Response, error) {
	method, media := of.method, "application/json"
	data, raw := of.body.([]byte)
	if raw {
		media = "application/octet-stream"
	}
	if of.body != nil {
		method = cmp.Or(method, http.MethodPost)
	}
	if of.body != nil && !raw {
		var err error
		if data, err = json.Marshal(of.body); err != nil {
			return nil, err
		}
	}
	to := c.url + of.path
	if len(of.query) > 0 {
		to += "?" + of.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if of.body != nil {
		r.Header.Set("Content-Type", media)
	}
	if of.accept != "" {
		r.Header.Set("Accept", of.accept)
	}
	if c.o.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.o.Token)
	}
	a, err := c.o.HTTP.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnknown, err)
	}
	if a.StatusCode == http.StatusOK {
		return a, nil
	}
	defer a.Body.Close()
	return nil, problem(a)
}

// problem reads what the server said instead of a result.
func problem(a *http.Response) *Problem {
	p := &Problem{}
	data, err := io.ReadAll(io.LimitReader(a.Body, 1<<20))
	if err != nil || json.Unmarshal(data, p) != nil || p.Title == "" { // of a proxy, perhaps
		p.Title, p.Detail = http.StatusText(a.StatusCode), fmt.Sprintf("%.200q", data)
	}
	p.Status = a.StatusCode
	if n, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil && n > 0 {
		p.RetryAfter = time.Duration(n) * time.Second
	}
	return p
}

// ask makes a call and decodes the answer.
func ask[T any](ctx context.Context, c *Client, of call) (*T, error) {
	a, err := c.do(ctx, &of)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	data, err := io.ReadAll(io.LimitReader(a.Body, answerMax))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnknown, err)
	}
	answer := new(T)
	if err := json.Unmarshal(data, answer); err != nil {
		return nil, fmt.Errorf("%s%s: an answer that is none: %w", c.url, of.path, err)
	}
	return answer, nil
}
