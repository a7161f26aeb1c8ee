package object

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/minio/minio-go/v7"
)

// An Upload is an object that is written in parts and appears, whole, with Commit. Abort removes
// the parts.
type Upload struct {
	store             *Store
	ctx               context.Context
	path, bucket, key string
	id                string // of the upload; "" while everything is in part
	part              bytes.Buffer
	parts             []minio.CompletePart
	size              int64 // written
	err               error // the first one
	done              bool
}

// partsPerSize is how many parts have one size before it is doubled: 10,000 parts, which is the
// most, then hold 31 times that of one size.
const partsPerSize = 2000

// Create begins an object. Unless replace says so, one of that name is an error that is
// [fs.ErrExist].
func (s *Store) Create(ctx context.Context, path string, replace bool) (*Upload, error) {
	bucket, key, err := split(path)
	if err != nil {
		return nil, fmt.Errorf("%w: only objects of S3 are written", err)
	}
	if s.err != nil {
		return nil, fmt.Errorf("%s: %w", path, s.err)
	}
	if key == "" {
		return nil, fmt.Errorf("%s: the name of an object is missing", path)
	}
	if !replace {
		if err := s.Absent(ctx, path); err != nil {
			return nil, err
		}
	}
	return &Upload{store: s, ctx: ctx, path: path, bucket: bucket, key: key}, nil
}

// Absent returns an error that is [fs.ErrExist] when an object of that name, or below it, is there.
func (s *Store) Absent(ctx context.Context, path string) error {
	for found, err := range s.List(ctx, path) {
		if err != nil {
			return err
		}
		return fmt.Errorf("%s: %w", found, fs.ErrExist)
	}
	return nil
}

// partBytes returns the size of the next part.
func (u *Upload) partBytes() int64 { return u.store.config.PartSize << (len(u.parts) / partsPerSize) }

// Write takes bytes, and sends those that make a part.
func (u *Upload) Write(p []byte) (n int, err error) {
	for u.err == nil && len(p) > 0 {
		room := min(int64(len(p)), u.partBytes()-int64(u.part.Len()))
		u.part.Write(p[:room])
		u.size += room
		p, n = p[room:], n+int(room)
		if int64(u.part.Len()) == u.partBytes() {
			u.err = u.send()
		}
	}
	return n, u.err
}

// send uploads the buffered bytes as a part.
func (u *Upload) send() (err error) {
	if u.id == "" {
		err = u.repeat(func() error {
			u.id, err = u.store.core.NewMultipartUpload(u.ctx, u.bucket, u.key, minio.PutObjectOptions{})
			return err
		})
		if err != nil {
			return err
		}
	}
	number := len(u.parts) + 1
	err = u.repeat(func() error {
		part, err := u.store.core.PutObjectPart(u.ctx, u.bucket, u.key, u.id, number, bytes.NewReader(u.part.Bytes()),
			int64(u.part.Len()), minio.PutObjectPartOptions{Sha256Hex: u.sum(),
				DisableContentSha256: true /* no signature of its own for each piece */})
		if err == nil {
			u.parts = append(u.parts, minio.CompletePart{PartNumber: number, ETag: part.ETag})
		}
		return err
	})
	u.part = bytes.Buffer{} // a transport may still read the old one, behind an answer that came early
	return err
}

// sum returns the checksum of the part, which the service verifies.
func (u *Upload) sum() string {
	sum := sha256.Sum256(u.part.Bytes())
	return hex.EncodeToString(sum[:])
}

// repeat calls do until it succeeds, fails for good, or has failed too often.
func (u *Upload) repeat(do func() error) error {
	return repeat(u.ctx, func() error { return said(u.path, do()) })
}

// Finish uploads the last part, so that [Upload.Commit] only has to complete the upload.
func (u *Upload) Finish() error {
	if u.err == nil && u.id != "" && u.part.Len() > 0 {
		u.err = u.send()
	}
	return u.err
}

// Commit makes the object appear.
func (u *Upload) Commit() error {
	if u.done {
		return u.err
	}
	if u.err = u.Finish(); u.err != nil {
		return u.err
	}
	u.err = u.repeat(func() error {
		if u.id == "" { // small: one request is whole or not at all
			_, err := u.store.core.PutObject(u.ctx, u.bucket, u.key, bytes.NewReader(u.part.Bytes()),
				int64(u.part.Len()), "", u.sum(), minio.PutObjectOptions{DisableContentSha256: true})
			return err
		}
		_, err := u.store.core.CompleteMultipartUpload(u.ctx, u.bucket, u.key, u.id, u.parts, minio.PutObjectOptions{})
		if minio.ToErrorResponse(err).Code == "NoSuchUpload" && u.appeared() {
			return nil // an attempt before this one did it, and its answer was lost
		}
		return err
	})
	u.done = u.err == nil
	return u.err
}

// appeared reports whether the object is there, with the size that was written.
func (u *Upload) appeared() bool {
	info, err := u.store.core.StatObject(u.ctx, u.bucket, u.key, minio.StatObjectOptions{})
	return err == nil && info.Size == u.size
}

// abortWait is how long removing parts may take, also after the context has ended.
const abortWait = 10 * time.Second

// Abort removes the parts unless the object was committed. Those that it cannot remove are left to the
// service's own rules. It may be called again.
func (u *Upload) Abort() {
	if u.done || u.id == "" {
		return
	}
	u.done, u.err = true, errors.New("the upload was aborted")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), abortWait)
	defer cancel()
	u.store.core.AbortMultipartUpload(ctx, u.bucket, u.key, u.id)
}
