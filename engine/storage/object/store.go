// Package object reads and writes objects of S3 and of web servers like files.
//
//	s3://bucket/key                         an object: read, list and write
//	s3://bucket/prefix/  s3://b/logs/*.gz   all objects below a prefix, or that match a pattern
//	http://host/path  https://host/path     read only
//
// One request at a time reads an object. If its connection breaks, reading continues at the next byte of the same
// version. If the object was replaced meanwhile, reading fails. Objects are written in parts and appear only when
// they are committed. minio-go repeats requests to S3.
//
// Endpoint, region and keys of S3 are configured as in other programs: by the AWS_ variables, or by the profile
// AWS_PROFILE of ~/.aws/credentials and ~/.aws/config. The profile may name a program or a sign-on. Otherwise the
// role of the container or machine applies, unless AWS_EC2_METADATA_DISABLED is true. Looking for it takes at most
// some seconds. Without keys, requests are not signed.
//
// A [Store] is safe for concurrent use. An [Object] or [Upload] is used by one goroutine, except for [Object.ReadAt],
// which is safe for concurrent use.
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

// Is reports whether a path names an object rather than a file. Package input reads the objects of hdfs.
func Is(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	return ok && (scheme == "s3" || scheme == "http" || scheme == "https" || scheme == "hdfs")
}

// Clean returns the path of an object unchanged, and the path of a file after [filepath.Clean].
func Clean(path string) string {
	if Is(path) {
		return path
	}
	return filepath.Clean(path)
}

// split returns the bucket and key of an s3 path.
func (s *Store) split(path string) (bucket, key string, err error) {
	name, isS3 := strings.CutPrefix(path, "s3://")
	if bucket, key, _ = strings.Cut(name, "/"); bucket == "" || !isS3 {
		return "", "", fmt.Errorf("%s: not of the form s3://bucket/key, the only objects that are written", path)
	}
	return bucket, key, serviceError(path, s.err)
}

// Config has the endpoint and keys of a service. The zero value is Amazon's own endpoint, without keys.
type Config struct {
	Endpoint string // URL of an S3 service; "" is Amazon's
	Region   string
	Keys     *credentials.Credentials // nil means unsigned requests
}

// A Store is a client of an S3 service and of web servers.
type Store struct {
	core     *minio.Core
	err      error // error of the configuration
	http     *http.Client
	partSize int // initial size of the parts of an upload
}

// New returns a store. If the configuration is invalid, every operation on S3 returns the error.
func New(c Config) *Store {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = time.Minute
	transport.DisableCompression = true // objects are read in their stored form
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

// NewContext returns a context with the store s.
func NewContext(ctx context.Context, s *Store) context.Context {
	return context.WithValue(ctx, contextKey{}, s)
}

var errNone = errors.New("no object store is configured")

// From returns the store of a context. Without one, it returns a store whose operations all fail.
func From(ctx context.Context) *Store {
	if s, ok := ctx.Value(contextKey{}).(*Store); ok {
		return s
	}
	return &Store{err: errNone}
}

// serviceError adds the path to an error, and replaces an error of the service by its message and code.
func serviceError(path string, err error) error {
	if err == nil {
		return nil
	}
	if r := minio.ToErrorResponse(err); r.Code != "" && r.Message != "" {
		return fmt.Errorf("%s: %s (%s)", path, strings.TrimSuffix(r.Message, "."), r.Code)
	}
	if errors.Is(err, io.EOF) { // a closed connection must not look like the end of an object
		return fmt.Errorf("%s: %v", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
