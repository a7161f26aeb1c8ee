package object_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"ndd/engine/oracle/bucket"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/object"
)

// store returns a store of the server.
func store(s *bucket.Server) *object.Store {
	return object.New(object.Config{Endpoint: s.URL, Region: "us-east-1",
		Keys: credentials.NewStaticV4("key", "secret", ""), PartSize: 5 << 20,
		HTTP: &http.Client{Transport: &http.Transport{DisableCompression: true}}})
}

// content is some bytes, of which no part is like another.
func content(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// TestRead reads objects over connections that are cut again and again, from a start to an end and
// at any place.
func TestRead(t *testing.T) {
	s := bucket.New(t)
	want := content(9<<20 + 123)
	s.Put(t, "dir/large", want)
	s.Put(t, "empty", nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(&breaking{w, 1 << 20}, r, "", time.Unix(1e9, 0), bytes.NewReader(want))
	}))
	defer web.Close()
	noRanges := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(want) }))
	defer noRanges.Close()
	for _, path := range []string{"s3://docs/dir/large", web.URL + "/x", noRanges.URL} {
		for _, cut := range []int64{0, 700_000} {
			s.CutAfter(cut)
			o, err := store(s).Open(t.Context(), path)
			if err != nil {
				t.Fatal(path, cut, err)
			}
			if path != noRanges.URL && o.Size != int64(len(want)) {
				t.Errorf("%s: %d bytes", path, o.Size)
			}
			got, err := io.ReadAll(o)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, cut after %d: %d bytes, %v", path, cut, len(got), err)
			}
			if cut > 0 {
				s.CutAfter(3 << 20) // a block at least
			}
			for _, at := range []int{0, 1<<20 - 1, 5 << 20, len(want) - 10} {
				if path == noRanges.URL {
					continue
				}
				p := make([]byte, 300_000)
				n, err := o.ReadAt(p, int64(at))
				if w := want[at:min(len(want), at+len(p))]; !bytes.Equal(p[:n], w) || (err == io.EOF) != (len(w) < len(p)) {
					t.Errorf("%s at %d: %d bytes, %v", path, at, n, err)
				}
			}
			o.Close()
		}
	}
	s.CutAfter(0)
	o, err := store(s).Open(t.Context(), "s3://docs/empty")
	must.Do(t, err)
	if n, err := o.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Error(n, err)
	}
}

// TestRanges: an object is read by several requests at a time, which ask for every byte once; its
// beginning by one that asks for little; and all objects together by no more than there is room for.
func TestRanges(t *testing.T) {
	s := bucket.New(t)
	want := content(21 << 20)
	s.Put(t, "x", want)
	counter := &counting{from: &http.Transport{DisableCompression: true}, meet: make(chan struct{})}
	objects := object.New(object.Config{Endpoint: s.URL, Region: "us-east-1",
		Keys: credentials.NewStaticV4("key", "secret", ""), HTTP: &http.Client{Transport: counter}})
	open := func() *object.Object {
		o, err := objects.Open(t.Context(), "s3://docs/x")
		must.Do(t, err)
		return o
	}
	o := open()
	if n, err := io.ReadFull(o, make([]byte, 10)); err != nil || counter.bytes.Load() > 256<<10 {
		t.Errorf("%d bytes, %v: %d were asked for", n, err, counter.bytes.Load())
	}
	must.Do(t, o.Close())
	counter.bytes.Store(0)
	o = open()
	got, err := io.ReadAll(o)
	if err != nil || !bytes.Equal(got, want) || counter.bytes.Load() != int64(len(want)) {
		t.Errorf("%d bytes, %v: %d were asked for", len(got), err, counter.bytes.Load())
	}
	must.Do(t, o.Close())
	if most := counter.most.Load(); most < 2 || most > 4 {
		t.Errorf("%d requests at a time", most)
	}
	counter.most.Store(0)
	var all []*object.Object
	for range 12 {
		o := open()
		_, err = io.ReadFull(o, make([]byte, 9<<20))
		must.Do(t, err)
		all = append(all, o)
	}
	if most := counter.most.Load(); most > 17 {
		t.Errorf("%d requests at a time", most)
	}
	for _, o := range all {
		must.Do(t, o.Close())
	}
	if counter.now.Load() != 0 {
		t.Errorf("%d requests go on", counter.now.Load())
	}
}

// counting counts requests for content, at a time, and the bytes of their answers. The first request behind
// the beginning of an object waits for another one, if one is to come beside it.
type counting struct {
	from             http.RoundTripper
	now, most, bytes atomic.Int64
	meet             chan struct{}
	met              atomic.Bool
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return c.from.RoundTrip(r)
	}
	n := c.now.Add(1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	if !strings.HasPrefix(r.Header.Get("Range"), "bytes=0-") && !c.met.Load() {
		select {
		case c.meet <- struct{}{}:
		case <-c.meet:
		case <-time.After(20 * time.Second):
		}
		c.met.Store(true)
	}
	a, err := c.from.RoundTrip(r)
	if err != nil {
		c.now.Add(-1)
		return a, err
	}
	c.bytes.Add(a.ContentLength)
	a.Body = &counted{ReadCloser: a.Body, of: c}
	return a, nil
}

// counted is the body of a request.
type counted struct {
	io.ReadCloser
	of    *counting
	ended sync.Once
}

func (c *counted) Close() error {
	c.ended.Do(func() { c.of.now.Add(-1) })
	return c.ReadCloser.Close()
}

// breaking ends an answer after so many bytes.
type breaking struct {
	http.ResponseWriter
	left int
}

func (b *breaking) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return b.ResponseWriter.Write(p)
}

// TestChanged: an object that is replaced while it is read is an error, not a mixture.
func TestChanged(t *testing.T) {
	s := bucket.New(t)
	s.Put(t, "x", content(3<<20))
	s.CutAfter(1 << 20)
	o, err := store(s).Open(t.Context(), "s3://docs/x")
	must.Do(t, err)
	_, err = io.CopyN(io.Discard, o, 1000)
	must.Do(t, err)
	s.Put(t, "x", bytes.Repeat([]byte("y"), 3<<20))
	if _, err := io.ReadAll(o); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
		t.Error(err)
	}
}

// TestErrors: what is not there, not allowed or not reached is said, with the path, and at once
// unless trying again may help.
func TestErrors(t *testing.T) {
	s := bucket.New(t)
	s.Put(t, "x", []byte("x"))
	for path, want := range map[string]string{"s3://docs/none": "s3://docs/none: ", "s3://none/x": "s3://none/x: ",
		"s3://": "s3://bucket/key", s.URL + "/none/x": "404"} {
		before := s.Requests.Load()
		if _, err := store(s).Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
		if n := s.Requests.Load() - before; n > 2 {
			t.Errorf("%s: %d requests", path, n)
		}
	}
	s.Fail.Store(2)
	if o, err := store(s).Open(t.Context(), "s3://docs/x"); err != nil || o.Size != 1 {
		t.Error(err)
	}
	if _, err := object.From(t.Context()).Open(t.Context(), "s3://docs/x"); err == nil {
		t.Error("a context without a store opened an object")
	}
	if _, err := object.New(object.Config{Endpoint: "nonsense"}).Open(t.Context(), "s3://docs/x"); err == nil ||
		!strings.Contains(err.Error(), `S3 endpoint "nonsense"`) {
		t.Error(err)
	}
}

// TestBlockAgain: a block that could not be read is asked for again by the next call.
func TestBlockAgain(t *testing.T) {
	want, refused := content(1000), atomic.Bool{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && !refused.Swap(true) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(want))
	}))
	defer web.Close()
	o, err := object.New(object.Config{HTTP: web.Client()}).Open(t.Context(), web.URL+"/x")
	must.Do(t, err)
	defer o.Close()
	p := make([]byte, 100)
	if _, err := o.ReadAt(p, 10); err == nil {
		t.Error("a refused block was read")
	}
	if n, err := o.ReadAt(p, 10); err != nil || !bytes.Equal(p[:n], want[10:110]) {
		t.Errorf("again: %d bytes, %v", n, err)
	}
}

// TestList lists prefixes as folders, and patterns.
func TestList(t *testing.T) {
	s := bucket.New(t)
	keys := []string{"a/1.txt", "a/2.jsonl", "a/b/3.jsonl", "ab.txt", "z"}
	for _, key := range keys {
		s.Put(t, key, nil)
	}
	s.Put(t, "a/folder/", nil)
	for path, want := range map[string]string{"s3://docs/": "a/1.txt a/2.jsonl a/b/3.jsonl ab.txt z",
		"s3://docs/a":  "a/1.txt a/2.jsonl a/b/3.jsonl",
		"s3://docs/a/": "a/1.txt a/2.jsonl a/b/3.jsonl", "s3://docs/a/*.jsonl": "a/2.jsonl",
		"s3://docs/*/*/*": "a/b/3.jsonl", "s3://docs/z": "z", "s3://docs/none": ""} {
		var got []string
		for path, err := range store(s).List(t.Context(), path) {
			must.Do(t, err)
			got = append(got, strings.TrimPrefix(path, "s3://docs/"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// TestUpload writes small and large objects while requests fail: each is there whole after Commit,
// and before it, or after Abort, not at all.
func TestUpload(t *testing.T) {
	s := bucket.New(t)
	for _, size := range []int{0, 1, 5 << 20, 12<<20 + 7} {
		want, key := content(size), fmt.Sprint("out", size)
		s.Fail.Store(1)
		u, err := store(s).Create(t.Context(), "s3://docs/"+key, false)
		must.Do(t, err)
		for part := range slices.Chunk(want, 1<<20+1) {
			s.Fail.Store(1)
			_, err = u.Write(part)
			must.Do(t, err)
		}
		if got := s.Get(t, key); got != nil {
			t.Fatalf("%d bytes are there before they are committed", len(got))
		}
		s.Fail.Store(1)
		must.Do(t, u.Commit())
		if got := s.Get(t, key); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, want %d", len(got), size)
		}
		if _, err := store(s).Create(t.Context(), "s3://docs/"+key, false); !errors.Is(err, fs.ErrExist) {
			t.Error(err)
		}
		u, err = store(s).Create(t.Context(), "s3://docs/"+key, true)
		must.Do(t, err)
		_, err = u.Write(content(6 << 20))
		must.Do(t, err)
		if u.Abort(); !bytes.Equal(s.Get(t, key), want) {
			t.Error("an aborted upload changed the object")
		}
		if err := u.Commit(); err == nil {
			t.Error("committed after Abort")
		}
		u, err = store(s).Create(t.Context(), "s3://docs/none/"+t.Name(), false)
		must.Do(t, err)
		u.Abort()
	}
	if _, err := store(s).Create(t.Context(), "http://x/y", false); err == nil || !strings.Contains(err.Error(),
		"only objects of S3 are written") {
		t.Error(err)
	}
}
