package object

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7"

	"ndd/engine/parallel"
)

// stat finds an object, with its size and time.
func (s *Store) stat(ctx context.Context, o *Object) error {
	if !strings.HasPrefix(o.Path, "s3://") {
		return s.statHTTP(ctx, o)
	}
	bucket, key, err := split(o.Path)
	if err != nil {
		return err
	}
	if s.err != nil {
		return &ServiceError{Path: o.Path, Message: s.err.Error()}
	}
	info, err := s.core.StatObject(ctx, bucket, key, minio.StatObjectOptions{})
	if err != nil {
		return said(o.Path, err)
	}
	o.Size, o.ModifiedNano = info.Size, info.LastModified.UnixNano() // an answer without it is an error
	o.ranges = &parallel.Queue[*span]{Room: &s.ahead, Max: rangesMax}
	o.from = &s3Source{s.core, o.Path, bucket, key, info.ETag}
	return nil
}

// s3Source is a version of an object of S3.
type s3Source struct {
	core              *minio.Core
	path, bucket, key string
	tag               string
}

func (s *s3Source) tagged() string { return s.tag }

func (s *s3Source) open(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	o := minio.GetObjectOptions{}
	if err := o.SetMatchETag(s.tag); err != nil {
		return nil, err
	}
	end := to - 1
	if to < 0 {
		end = 0 // of SetRange: the end of the object
	}
	if from > 0 || to >= 0 {
		if err := o.SetRange(from, end); err != nil {
			return nil, err
		}
	}
	body, info, _, err := s.core.GetObject(ctx, s.bucket, s.key, o)
	if minio.ToErrorResponse(err).Code == "PreconditionFailed" {
		return nil, fmt.Errorf("%s: %w", s.path, errChanged)
	}
	if err == nil && info.ETag != s.tag { // of a service that knows no conditions
		body.Close()
		return nil, fmt.Errorf("%s: %w", s.path, errChanged)
	}
	return body, said(s.path, err)
}

// statHTTP asks a web server. One that does not answer HEAD is asked for the object itself.
func (s *Store) statHTTP(ctx context.Context, o *Object) error {
	if s.http == nil {
		return &ServiceError{Path: o.Path, Message: s.err.Error()}
	}
	h := &httpSource{client: s.http, url: o.Path}
	answer, err := h.ask(ctx, http.MethodHead, 0, -1)
	if err == nil {
		answer.Body.Close()
	}
	if err != nil || answer.StatusCode != http.StatusOK {
		if answer, err = h.ask(ctx, http.MethodGet, 0, -1); err != nil {
			return err
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return httpError(o.Path, answer.StatusCode)
		}
	}
	o.Size = answer.ContentLength
	if at, err := http.ParseTime(answer.Header.Get("Last-Modified")); err == nil {
		o.ModifiedNano = at.UnixNano()
	}
	h.version = answer.Header.Get("ETag")
	if strings.HasPrefix(h.version, "W/") || h.version == "" {
		h.version = answer.Header.Get("Last-Modified")
	}
	o.from = h
	return nil
}

// httpSource is a version of the content of a URL.
type httpSource struct {
	client  *http.Client
	url     string
	version string // strong entity tag or date; "": the server does not say
}

// ask sends a request for some bytes.
func (h *httpSource) ask(ctx context.Context, method string, from, to int64) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, h.url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept-Encoding", "identity")
	switch {
	case to >= 0:
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, to-1))
	case from > 0:
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	return h.client.Do(r)
}

func (h *httpSource) tagged() string { return h.version }

func (h *httpSource) open(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	answer, err := h.ask(ctx, http.MethodGet, from, to)
	if err != nil {
		return nil, err
	}
	if !h.same(answer) {
		answer.Body.Close()
		return nil, fmt.Errorf("%s: %w", h.url, errChanged)
	}
	switch answer.StatusCode {
	case http.StatusPartialContent:
		if !strings.HasPrefix(answer.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", from)) {
			answer.Body.Close()
			return nil, &ServiceError{Path: h.url,
				Message: "other bytes than were asked for: " + answer.Header.Get("Content-Range")}
		}
		return answer.Body, nil
	case http.StatusOK: // a server that knows no ranges sends all
		if _, err := io.CopyN(io.Discard, answer.Body, from); err != nil {
			answer.Body.Close()
			return nil, fmt.Errorf("%s: %w", h.url, err)
		}
		return answer.Body, nil
	}
	answer.Body.Close()
	return nil, httpError(h.url, answer.StatusCode)
}

// httpError is the answer of a web server that is none.
func httpError(url string, status int) error {
	return &ServiceError{Path: url, Status: status, Message: strconv.Itoa(status) + " " + http.StatusText(status)}
}

// same reports whether an answer is of the version that was there first.
func (h *httpSource) same(answer *http.Response) bool {
	if h.version == "" || answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusPartialContent {
		return true
	}
	if tag := answer.Header.Get("ETag"); tag == h.version {
		return true
	}
	return answer.Header.Get("Last-Modified") == h.version
}
