// Package object reads and writes objects of S3 and of web servers as if they were files.
//
//	s3://bucket/key                         an object; read, listed and written
//	s3://bucket/prefix/  s3://b/logs/*.gz   all below a prefix, and what a pattern matches
//	http://host/path  https://host/path     read only
//
// An object is read by one request at a time. Where its connection breaks, reading goes on at the next byte of
// the same version: an object that was replaced meanwhile is an error. Objects are written in parts, and appear
// when they are committed, whole, or not at all. Requests to S3 are repeated by minio-go.
//
// Endpoint, region and keys of S3 are found as other programs find them: in the AWS_ variables, or in the profile
// AWS_PROFILE of ~/.aws/credentials and ~/.aws/config, which may name a program or a sign-on. Then the role of the
// container or machine is asked for, for some seconds at most, unless AWS_EC2_METADATA_DISABLED is true. Without
// keys, requests are not signed.
//
// A [Store] may be used by many goroutines; an [Object] or [Upload] by one, but for
// [Object.ReadAt], which many may call.
package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Is reports whether a path names an object rather than a file.
func Is(path string) bool {
	return strings.HasPrefix(path, "s3://") || strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://")
}

// Clean returns the path of an object as it is, and that of a file as [filepath.Clean] does.
func Clean(path string) string {
	if Is(path) {
		return path
	}
	return filepath.Clean(path)
}

// split returns the bucket and key of an s3 path.
func (s *Store) split(path string) (bucket, key string, err error) {
	if bucket, key, _ = strings.Cut(strings.TrimPrefix(path, "s3://"), "/"); bucket == "" {
		return "", "", fmt.Errorf("%s: not of the form s3://bucket/key", path)
	}
	return bucket, key, said(path, s.err)
}

// Config is where and as whom objects are asked for. The zero value is Amazon's own endpoint,
// without keys.
type Config struct {
	Endpoint string // URL of an S3 service; "": Amazon's
	Region   string
	Keys     *credentials.Credentials // nil: none
}

// A Store is where objects are.
type Store struct {
	core     *minio.Core
	err      error // of the configuration
	http     *http.Client
	partSize int // of uploads, at first
}

// New returns the store of a configuration. An invalid one is the error of every operation on S3.
func New(c Config) *Store {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = time.Minute
	transport.DisableCompression = true // objects are read as they are stored
	s := &Store{http: &http.Client{Transport: transport}, partSize: 16 << 20}
	o := &minio.Options{Creds: c.Keys, Region: c.Region, Secure: true, Transport: transport}
	host := "s3.amazonaws.com"
	if c.Endpoint != "" {
		u, err := url.Parse(c.Endpoint)
		if err != nil || u.Host == "" {
			s.err = fmt.Errorf("S3 endpoint %q: must be a URL such as https://s3.example.org", c.Endpoint)
			return s
		}
		host, o.Secure = u.Host, u.Scheme != "http"
	}
	s.core, s.err = minio.NewCore(host, o)
	return s
}

type contextKey struct{}

// NewContext returns a context in which objects are those of s.
func NewContext(ctx context.Context, s *Store) context.Context {
	return context.WithValue(ctx, contextKey{}, s)
}

var errNone = errors.New("objects are not reached from here")

// From returns the store of a context, or one all of whose operations fail.
func From(ctx context.Context) *Store {
	if s, ok := ctx.Value(contextKey{}).(*Store); ok {
		return s
	}
	return &Store{err: errNone}
}

// said returns an error with the path, and one of the service in its words.
func said(path string, err error) error {
	if err == nil {
		return nil
	}
	if r := minio.ToErrorResponse(err); r.Code != "" && r.Message != "" {
		return fmt.Errorf("%s: %s (%s)", path, strings.TrimSuffix(r.Message, "."), r.Code)
	}
	if errors.Is(err, io.EOF) { // the end of a connection is not that of an object
		return fmt.Errorf("%s: %v", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
