package object

import (
	"context"
	"iter"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
)

// List yields the objects that an s3 path stands for, in order of their keys: that object, or else
// all below it as a folder, or those whose keys a pattern matches, in which * does not match a
// slash. Keys that end in a slash are folders and are left out. After an error nothing follows.
func (s *Store) List(ctx context.Context, from string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		bucket, key, err := s.split(from)
		if err != nil {
			yield("", err)
			return
		}
		prefix, pattern := key, ""
		if i := strings.IndexAny(key, "*?["); i >= 0 {
			prefix, pattern = key[:i], key
			if _, err := path.Match(pattern, ""); err != nil {
				yield("", said(from, err))
				return
			}
		}
		ctx, cancel := context.WithCancel(ctx) // ends the listing when nobody wants the rest
		defer cancel()
		for info := range s.core.ListObjectsIter(ctx, bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
			if info.Err != nil {
				yield("", said(from, info.Err))
				return
			}
			if wanted(info.Key, key, pattern) && !yield("s3://"+bucket+"/"+info.Key, nil) {
				return
			}
		}
	}
}

// wanted reports whether a key is the one that was asked for, below it, or matched by the pattern.
func wanted(key, asked, pattern string) bool {
	if strings.HasSuffix(key, "/") {
		return false
	}
	if pattern != "" {
		ok, err := path.Match(pattern, key)
		return ok && err == nil
	}
	return key == asked || asked == "" || strings.HasPrefix(key, strings.TrimSuffix(asked, "/")+"/")
}
