// Package object reads and writes objects of S3 and of web servers as if they were files.
//
//	s3://bucket/key                         an object; read, listed and written
//	s3://bucket/prefix/  s3://b/logs/*.gz   all below a prefix, and what a pattern matches
//	http://host/path  https://host/path     read only
//
// Objects are read by ranges: one of S3 by up to four requests at a time, of up to 4 MiB each, and all
// that are read at the same time by one each and 16 more. Where a connection breaks, reading goes on
// where it ended, on the same version of the object: an object that was replaced meanwhile is an error.
// Objects are written in parts, and appear when they are committed, whole, or not at all.
//
// Endpoint and region of S3 are those of AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL and of AWS_REGION or
// AWS_DEFAULT_REGION. Keys are found as other programs find them: in AWS_ACCESS_KEY_ID with
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or in the profile AWS_PROFILE of ~/.aws/credentials and
// ~/.aws/config (AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE), which may name a program or a sign-on;
// then the role of the container or machine, whose service is asked for some seconds at most, unless
// AWS_EC2_METADATA_DISABLED is true. Without keys, objects are asked for without a signature.
//
// A [Store] may be used by many goroutines; an [Object] or [Upload] by one, but for
// [Object.ReadAt], which many may call.
package object

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"ndd/engine/parallel"
)

// Is reports whether a path names an object rather than a file.
func Is(path string) bool {
	return strings.HasPrefix(path, "s3://") || strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://")
}

// split returns the bucket and key of an s3 path.
func split(path string) (bucket, key string, err error) {
	rest, ok := strings.CutPrefix(path, "s3://")
	bucket, key, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" {
		return "", "", &ServiceError{Path: path, Message: "not of the form s3://bucket/key"}
	}
	return bucket, key, nil
}

// Config is where and as whom objects are asked for. The zero value is Amazon's own endpoint,
// without keys.
type Config struct {
	Endpoint string // URL of an S3 service; "": Amazon's
	Region   string
	Keys     *credentials.Credentials // nil: none
	HTTP     *http.Client             // for both kinds of objects; nil: one with timeouts for connecting
	PartSize int64                    // of uploads, at first; 0: 16 MiB
}

// A Store is where objects are.
type Store struct {
	config Config
	core   *minio.Core
	err    error // of the configuration
	http   *http.Client
	ahead  parallel.Room // of ranges that are asked for ahead
}

// New returns the store of a configuration. An invalid one is the error of every operation on S3.
func New(c Config) *Store {
	s := &Store{config: c, http: c.HTTP, ahead: parallel.Room{Max: rangesAll}}
	if s.http == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.ResponseHeaderTimeout = time.Minute
		transport.DisableCompression = true // objects are read as they lie there
		s.http = &http.Client{Transport: transport}
	}
	if s.config.PartSize == 0 {
		s.config.PartSize = 16 << 20
	}
	o := &minio.Options{Creds: c.Keys, Region: c.Region, Secure: true, Transport: s.http.Transport, MaxRetries: 1}
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

// said returns an error of the service in its words, with the path.
func said(path string, err error) error {
	if err == nil {
		return nil
	}
	if r := minio.ToErrorResponse(err); r.Code != "" && r.Message != "" {
		return &ServiceError{Path: path, Status: r.StatusCode,
			Message: strings.TrimSuffix(r.Message, ".") + " (" + r.Code + ")"}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// A ServiceError is an answer of a service that refuses a request.
type ServiceError struct {
	Path    string
	Status  int // of HTTP; 0: refused before it was asked
	Message string
}

func (e *ServiceError) Error() string { return e.Path + ": " + e.Message }

// final tells errors that no repetition changes.
func final(err error) bool {
	if e, ok := errors.AsType[*ServiceError](err); ok {
		return e.Status < 500 && e.Status != http.StatusRequestTimeout && e.Status != http.StatusTooManyRequests
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errChanged)
}
