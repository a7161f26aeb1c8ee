// Package bucket is an S3 server for tests. It can refuse requests, lose answers and cut connections.
package bucket

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// A Server has one bucket, called docs.
type Server struct {
	URL      string
	Requests atomic.Int64
	Fail     atomic.Int64 // number of next requests that get 503
	Lose     atomic.Int64 // number of next requests that are executed and then get 503

	cut     atomic.Int64
	backend gofakes3.Backend
}

// New starts a server, which ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{backend: s3mem.New()}
	if err := s.backend.CreateBucket("docs"); err != nil {
		t.Fatal(err)
	}
	api := gofakes3.New(s.backend).Server()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Requests.Add(1)
		if s.Fail.Load() > 0 && s.Fail.Add(-1) >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if r.Method == http.MethodPut && r.ContentLength <= 0 && r.Header.Get("Content-Length") == "" {
			r.Header.Set("Content-Length", "0") // the backend requires it, and Go's server removes it
		}
		if s.Lose.Load() > 0 && s.Lose.Add(-1) >= 0 {
			api.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		api.ServeHTTP(w, r)
	}))
	server.Listener = &cutListener{server.Listener, s}
	server.Start()
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// CutAfter closes every connection after this number of bytes in either direction. 0 means no limit.
func (s *Server) CutAfter(bytes int64) { s.cut.Store(bytes) }

// Put writes an object of bucket docs.
func (s *Server) Put(t testing.TB, key string, content []byte) {
	t.Helper()
	meta := map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}
	if _, err := s.backend.PutObject("docs", key, meta, bytes.NewReader(content), int64(len(content)), nil); err != nil {
		t.Fatal(err)
	}
}

// Get returns an object of bucket docs, or nil if there is none.
func (s *Server) Get(t testing.TB, key string) []byte {
	t.Helper()
	o, err := s.backend.GetObject("docs", key, nil)
	if gofakes3.HasErrorCode(err, gofakes3.ErrNoSuchKey) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer o.Contents.Close()
	content, err := io.ReadAll(o.Contents)
	if err != nil {
		t.Fatal(err)
	}
	if content == nil {
		content = []byte{}
	}
	return content
}

// A cutListener wraps the connections of a listener.
type cutListener struct {
	net.Listener
	s *Server
}

// Accept is part of net.Listener.
func (c *cutListener) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &cutConn{Conn: conn, s: c.s}, nil
}

// A cutConn closes itself when it has carried too many bytes.
type cutConn struct {
	net.Conn
	s       *Server
	carried atomic.Int64
}

func (c *cutConn) carry(n int) {
	if limit := c.s.cut.Load(); c.carried.Add(int64(n)) >= limit && limit > 0 {
		c.Conn.Close()
	}
}

// Read is part of net.Conn.
func (c *cutConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.carry(n)
	return n, err
}

// Write is part of net.Conn.
func (c *cutConn) Write(p []byte) (int, error) {
	if limit := c.s.cut.Load(); limit > 0 {
		p = p[:min(int64(len(p)), max(0, limit-c.carried.Load()))]
	}
	n, err := c.Conn.Write(p)
	c.carry(n)
	return n, err
}
