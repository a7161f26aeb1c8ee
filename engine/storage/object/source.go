package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// find reads the size, time and version of an object.
func (s *Store) find(ctx context.Context, o *Object) error {
	if !strings.HasPrefix(o.Path, "s3://") {
		return s.findWeb(ctx, o)
	}
	bucket, key, err := s.split(o.Path)
	if err != nil {
		return err
	}
	info, err := s.core.StatObject(ctx, bucket, key, minio.StatObjectOptions{})
	o.Size, o.ModifiedNano, o.Version = info.Size, info.LastModified.UnixNano(), info.ETag
	o.get = func(start, end int64) (*http.Response, error) {
		get := minio.GetObjectOptions{}
		if err := errors.Join(get.SetMatchETag(o.Version), get.SetRange(start, end-1)); err != nil {
			return nil, err
		}
		body, _, header, err := s.core.GetObject(ctx, bucket, key, get)
		return &http.Response{Body: body, Header: header}, err
	}
	return serviceError(o.Path, err)
}

// findWeb requests the whole object, because not every web server supports HEAD.
func (s *Store) findWeb(ctx context.Context, o *Object) error {
	if s.http == nil {
		return serviceError(o.Path, s.err)
	}
	answer, err := s.ask(ctx, o.Path, 0, -1)
	if err != nil {
		return serviceError(o.Path, err)
	}
	o.body, o.Size, o.Version = answer.Body, answer.ContentLength, versionOf(answer.Header)
	if modified, err := http.ParseTime(answer.Header.Get("Last-Modified")); err == nil {
		o.ModifiedNano = modified.UnixNano()
	}
	o.get = func(start, end int64) (*http.Response, error) { return s.ask(ctx, o.Path, start, end) }
	return nil
}

// versionOf returns the entity tag of a response, or the time if the tag is missing or weak.
func versionOf(header http.Header) string {
	if tag := header.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return strings.Trim(tag, `"`)
	}
	return header.Get("Last-Modified")
}

// open requests the bytes [start, end), or all from start on if end is -1. It skips bytes if the service ignores
// ranges.
func (o *Object) open(start, end int64) (io.ReadCloser, error) {
	answer, err := o.get(start, end)
	if minio.ToErrorResponse(err).Code == minio.PreconditionFailed {
		err = errChanged
	}
	if err != nil {
		return nil, serviceError(o.Path, err)
	}
	switch contentRange := answer.Header.Get("Content-Range"); {
	case o.Version != "" && versionOf(answer.Header) != o.Version:
		err = errChanged
	case contentRange == "":
		_, err = io.CopyN(io.Discard, answer.Body, start)
	case !strings.HasPrefix(contentRange, fmt.Sprintf("bytes %d-", start)):
		err = fmt.Errorf("requested bytes from %d, but the answer has %q", start, contentRange)
	}
	if err != nil {
		answer.Body.Close()
		return nil, serviceError(o.Path, err)
	}
	return answer.Body, nil
}

const (
	attemptsMax = 6                      // maximum number of attempts of a request to a web server
	backoff     = 200 * time.Millisecond // additional delay of each attempt: six attempts wait 3 seconds
)

// ask requests bytes from a web server. It tries again if the server is busy or not reachable.
func (s *Store) ask(ctx context.Context, address string, start, end int64) (answer *http.Response, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept-Encoding", "identity")
	if end >= 0 {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", start, end-1))
	} else if start > 0 {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-", start))
	}
	for n := range attemptsMax {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Duration(n) * backoff):
		}
		if answer, err = s.http.Do(r); err == nil {
			c := answer.StatusCode
			if c == http.StatusOK || c == http.StatusPartialContent {
				return answer, nil
			}
			answer.Body.Close()
			if err = errors.New(answer.Status); c < 500 && c != http.StatusTooManyRequests && c != http.StatusRequestTimeout {
				return nil, err
			}
		} else if request := new(url.Error); errors.As(err, &request) {
			err = request.Err // the caller names the address
		}
	}
	return nil, fmt.Errorf("%w (tried %d times)", err, attemptsMax)
}
