package object

import (
	"context"
	"fmt"
	"iter"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
)

// IsOne reports whether a path names one object: a URL that is no prefix, and has no pattern in it.
func IsOne(path string) bool {
	if !strings.HasPrefix(path, "s3://") {
		return true
	}
	_, key, err := split(path)
	return err == nil && key != "" && !strings.HasSuffix(key, "/") && !strings.ContainsAny(key, "*?[")
}

// List yields the objects that an s3 path stands for, in order of their keys: that object, or else
// all below it as a folder, or those whose keys a pattern matches, in which * does not match a
// slash. Keys that end in a slash are folders and are left out. After an error nothing follows.
func (s *Store) List(ctx context.Context, from string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		bucket, key, err := split(from)
		if err == nil && s.err != nil {
			err = fmt.Errorf("%s: %w", from, s.err)
		}
		if err != nil {
			yield("", err)
			return
		}
		prefix, pattern := key, ""
		if i := strings.IndexAny(key, "*?["); i >= 0 {
			prefix, pattern = key[:i], key
			if _, err := path.Match(pattern, ""); err != nil {
				yield("", fmt.Errorf("%s: %w", from, err))
				return
			}
		}
		ctx, cancel := context.WithCancel(ctx) // ends the listing when nobody wants the rest
		defer cancel()
		last := "" // so that a listing that breaks off goes on
		more := true
		if err := repeat(ctx, func() error {
			for info := range s.core.Client.ListObjectsIter(ctx, bucket,
				minio.ListObjectsOptions{Prefix: prefix, Recursive: true, StartAfter: last}) {
				if info.Err != nil {
					return said(from, info.Err)
				}
				last = info.Key
				if wanted(info.Key, key, pattern) && !yield("s3://"+bucket+"/"+info.Key, nil) {
					more = false
					return nil
				}
			}
			return nil
		}); err != nil && more {
			yield("", err)
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
