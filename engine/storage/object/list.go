package object

import (
	"context"
	"iter"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
)

// An Entry is an object of a listing.
type Entry struct {
	Path  string
	Bytes int64
}

// List yields the objects of an s3 path, in order of their keys. The path names one object, a folder, or a pattern in
// which * does not match a slash. A folder yields all objects below it. Keys that end in a slash are folders and are
// skipped. List stops after an error.
func (s *Store) List(ctx context.Context, location string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		bucket, key, err := s.split(location)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		prefix, pattern := key, ""
		if i := strings.IndexAny(key, "*?["); i >= 0 {
			prefix, pattern = key[:i], key
			if _, err := path.Match(pattern, ""); err != nil {
				yield(Entry{}, serviceError(location, err))
				return
			}
		}
		ctx, cancel := context.WithCancel(ctx) // ends the listing if the caller stops early
		defer cancel()
		for info := range s.core.ListObjectsIter(ctx, bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
			if info.Err != nil {
				yield(Entry{}, serviceError(location, info.Err))
				return
			}
			if matches(info.Key, key, pattern) && !yield(Entry{"s3://" + bucket + "/" + info.Key, info.Size}, nil) {
				return
			}
		}
	}
}

// matches reports whether a key is the requested key, is below it, or matches the pattern.
func matches(key, request, pattern string) bool {
	if strings.HasSuffix(key, "/") {
		return false
	}
	if pattern != "" {
		ok, err := path.Match(pattern, key)
		return ok && err == nil
	}
	return key == request || request == "" || strings.HasPrefix(key, strings.TrimSuffix(request, "/")+"/")
}
