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
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"example.org/ndd/engine/oracle/bucket"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/object"
)

var keys = credentials.NewStaticV4("key", "secret", "")

func init() { minio.DefaultRetryUnit = time.Millisecond }

// store returns a store of the server.
func store(s *bucket.Server) *object.Store {
	return object.New(object.Config{Endpoint: s.URL, Region: "us-east-1", Keys: keys})
}

// content returns n bytes in which no part is repeated.
func content(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// TestRead reads objects sequentially and at any offset, over connections that break again and again.
func TestRead(t *testing.T) {
	s := bucket.New(t)
	want := content(9<<20 + 123)
	s.Put(t, "dir/large", want)
	s.Put(t, "empty", nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(&limitedWriter{w, 1 << 20}, r, "", time.Unix(1e9, 0), bytes.NewReader(want))
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
			for _, pos := range []int{0, 1<<20 - 1, 5 << 20, len(want) - 10} {
				if path == noRanges.URL {
					continue
				}
				p := make([]byte, 300_000)
				n, err := o.ReadAt(p, int64(pos))
				if w := want[pos:min(len(want), pos+len(p))]; !bytes.Equal(p[:n], w) || (err == io.EOF) != (len(w) < len(p)) {
					t.Errorf("%s at %d: %d bytes, %v", path, pos, n, err)
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

// A limitedWriter aborts an answer after a number of bytes.
type limitedWriter struct {
	http.ResponseWriter
	bytesLeft int
}

func (b *limitedWriter) Write(p []byte) (int, error) {
	if b.bytesLeft -= len(p); b.bytesLeft < 0 {
		panic(http.ErrAbortHandler)
	}
	return b.ResponseWriter.Write(p)
}

// TestChanged replaces an object while it is read: this is an error.
func TestChanged(t *testing.T) {
	s := bucket.New(t)
	for _, path := range []string{"s3://docs/x", s.URL + "/docs/x"} {
		s.Put(t, "x", content(8<<20))
		o, err := store(s).Open(t.Context(), path)
		must.Do(t, err)
		_, err = io.CopyN(io.Discard, o, 1000)
		must.Do(t, err)
		s.CutAfter(1 << 20)
		s.Put(t, "x", bytes.Repeat([]byte("y"), 8<<20))
		for name, err := range map[string]error{"Read": second(io.Copy(io.Discard, o)),
			"ReadAt": second(o.ReadAt(make([]byte, 9), 0))} {
			if err == nil || !strings.Contains(err.Error(), path+": the object was changed while it was read") {
				t.Errorf("%s: %v", name, err)
			}
		}
		s.CutAfter(0)
	}
}

func second[T any](_ T, err error) error { return err }

// TestBroken breaks every connection to an object. The error names the object, and the next call tries again.
func TestBroken(t *testing.T) {
	want, maximum := content(5000), atomic.Int64{}
	maximum.Store(1000) // bytes that arrive
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, to := 0, len(want)-1
		fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, len(want)))
		if r.Header.Get("Range") == "" { // otherwise the answer seems to be complete
			w.Header().Set("Content-Length", fmt.Sprint(len(want)))
		}
		w.Write(want[from:max(from, min(to+1, int(maximum.Load())))])
	}))
	defer web.Close()
	o, err := object.New(object.Config{}).Open(t.Context(), web.URL+"/x")
	must.Do(t, err)
	defer o.Close()
	message := web.URL + "/x: byte 1000: unexpected EOF"
	if got, err := io.ReadAll(o); len(got) != 1000 || err == nil || !strings.Contains(err.Error(), message) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	p := make([]byte, 100)
	if _, err := o.ReadAt(p, 10); err == nil || !strings.Contains(err.Error(), message) {
		t.Error(err)
	}
	maximum.Store(int64(len(want)))
	if n, err := o.ReadAt(p, 10); err != nil || !bytes.Equal(p[:n], want[10:110]) {
		t.Errorf("again: %d bytes, %v", n, err)
	}
	if tail, err := io.ReadAll(o); err != nil || !bytes.Equal(tail, want[1000:]) {
		t.Errorf("again: %d bytes, %v", len(tail), err)
	}
}

// TestShort checks that a response that is too short is not the end of the object.
func TestShort(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") == "" {
			w.Header().Set("Content-Length", "5000")
		}
		w.Write(make([]byte, 500-len(r.Header.Get("Range"))))
	}))
	defer web.Close()
	o, err := object.New(object.Config{}).Open(t.Context(), web.URL)
	must.Do(t, err)
	if n, err := io.Copy(io.Discard, o); n != 500 || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestErrors reads objects that do not exist, are forbidden or cannot be reached. The error has the path, and comes
// at once unless another attempt may help.
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
	for _, path := range []string{"s3://docs/x", s.URL + "/docs/x"} {
		s.Fail.Store(1)
		if o, err := store(s).Open(t.Context(), path); err != nil || o.Size != 1 {
			t.Error(err)
		}
	}
	if _, err := object.From(t.Context()).Open(t.Context(), "s3://docs/x"); err == nil {
		t.Error("a context without a store opened an object")
	}
	if _, err := object.New(object.Config{Endpoint: "nonsense"}).Open(t.Context(), "s3://docs/x"); err == nil ||
		!strings.Contains(err.Error(), `S3 endpoint "nonsense"`) {
		t.Error(err)
	}
}

// TestList lists prefixes as folders, and patterns.
func TestList(t *testing.T) {
	s := bucket.New(t)
	keys := []string{"a/1.txt", "a/2.jsonl", "a/b/3.jsonl", "ab.txt", "z"}
	for _, key := range keys {
		s.Put(t, key, []byte(key))
	}
	s.Put(t, "a/folder/", nil)
	for path, want := range map[string]string{"s3://docs/": "a/1.txt a/2.jsonl a/b/3.jsonl ab.txt z",
		"s3://docs/a":  "a/1.txt a/2.jsonl a/b/3.jsonl",
		"s3://docs/a/": "a/1.txt a/2.jsonl a/b/3.jsonl", "s3://docs/a/*.jsonl": "a/2.jsonl",
		"s3://docs/*/*/*": "a/b/3.jsonl", "s3://docs/z": "z", "s3://docs/none": ""} {
		var got []string
		for e, err := range store(s).List(t.Context(), path) {
			must.Do(t, err)
			key := strings.TrimPrefix(e.Path, "s3://docs/")
			if got = append(got, key); e.Bytes != int64(len(key)) {
				t.Errorf("%s has %d bytes", key, e.Bytes)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// TestUpload writes small and large objects while requests fail. Each object appears completely at Commit, and not
// at all after Abort.
func TestUpload(t *testing.T) {
	s := bucket.New(t)
	for _, size := range []int{0, 1, 16<<20 + 7} {
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
		must.Do(t, u.Finish())
		s.Lose.Store(1) // the answer to the request that completes the object
		must.Do(t, u.Commit())
		if got := s.Get(t, key); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, want %d", len(got), size)
		}
		if _, err := store(s).Create(t.Context(), "s3://docs/"+key, false); !errors.Is(err, fs.ErrExist) {
			t.Error(err)
		}
		u, err = store(s).Create(t.Context(), "s3://docs/"+key, true)
		must.Do(t, err)
		_, err = u.Write([]byte("x"))
		must.Do(t, errors.Join(err, u.Finish()))
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
	core, err := minio.NewCore(strings.TrimPrefix(s.URL, "http://"), &minio.Options{Creds: keys})
	must.Do(t, err)
	remaining, err := core.ListMultipartUploads(t.Context(), "docs", "", "", "", "", 9)
	if err != nil || len(remaining.Uploads) > 0 {
		t.Errorf("%+v are left, %v", remaining.Uploads, err)
	}
	if _, err := store(s).Create(t.Context(), "http://x/y", false); err == nil || !strings.Contains(err.Error(),
		"only objects of S3 are written") {
		t.Error(err)
	}
}
