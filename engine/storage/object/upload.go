package object

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// An Upload is an object that is written in parts and appears completely at Commit. Abort removes the parts. The
// upload of minio-go would hold a part in memory until Commit, for each file of a folder.
type Upload struct {
	store             *Store
	ctx               context.Context
	path, bucket, key string
	id                string // ID of the upload; "" before the first part
	part              bytes.Buffer
	parts             []minio.CompletePart
	size              int64 // bytes sent
	err               error // the first error
	done              bool
}

const (
	partsPerSize = 2000             // number of parts before the size doubles: the maximum of 10,000 parts holds 31 times as much as the first 2,000
	abortWait    = 10 * time.Second // time limit for removing parts, even if the context has ended
)

// Create starts an upload. Unless replace is true, it fails with [fs.ErrExist] if the object exists.
func (s *Store) Create(ctx context.Context, path string, replace bool) (*Upload, error) {
	if !strings.HasPrefix(path, "s3://") {
		return nil, fmt.Errorf("%s: only objects of S3 are written", path)
	}
	bucket, key, err := s.split(path)
	if err != nil {
		return nil, err
	}
	if key == "" {
		return nil, fmt.Errorf("%s: the path has no object name", path)
	}
	if !replace {
		if err := s.Absent(ctx, path); err != nil {
			return nil, err
		}
	}
	return &Upload{store: s, ctx: ctx, path: path, bucket: bucket, key: key}, nil
}

// Absent returns an error that wraps [fs.ErrExist] if the object exists, or objects below it.
func (s *Store) Absent(ctx context.Context, path string) error {
	for keys, err := range s.List(ctx, path) {
		if err != nil {
			return err
		}
		return fmt.Errorf("%s: %w", keys.Path, fs.ErrExist)
	}
	return nil
}

// Write buffers bytes and uploads complete parts.
func (u *Upload) Write(p []byte) (n int, err error) {
	for u.err == nil && len(p) > 0 {
		size := u.store.partSize << (len(u.parts) / partsPerSize)
		k := min(len(p), size-u.part.Len())
		u.part.Write(p[:k])
		p, n = p[k:], n+k
		if u.part.Len() == size {
			u.err = u.send()
		}
	}
	return n, u.err
}

// send uploads the buffered bytes as a part. The service verifies their checksum.
func (u *Upload) send() (err error) {
	if u.id == "" {
		u.id, err = u.store.core.NewMultipartUpload(u.ctx, u.bucket, u.key, minio.PutObjectOptions{})
		if err != nil {
			return serviceError(u.path, err)
		}
	}
	sum := sha256.Sum256(u.part.Bytes())
	part, err := u.store.core.PutObjectPart(u.ctx, u.bucket, u.key, u.id, len(u.parts)+1,
		bytes.NewReader(u.part.Bytes()), int64(u.part.Len()), minio.PutObjectPartOptions{
			Sha256Hex: hex.EncodeToString(sum[:]), DisableContentSha256: true /* of each piece */})
	u.parts = append(u.parts, minio.CompletePart{PartNumber: part.PartNumber, ETag: part.ETag})
	u.size += int64(u.part.Len())
	u.part = bytes.Buffer{} // a transport may still read the old buffer after an early response
	return serviceError(u.path, err)
}

// Finish uploads the last part, so that [Upload.Commit] only has to complete the upload.
func (u *Upload) Finish() error {
	if u.err == nil && u.part.Len() > 0 {
		u.err = u.send()
	}
	return u.err
}

// Commit completes the upload. Then the object exists.
func (u *Upload) Commit() error {
	if u.done || u.Finish() != nil {
		return u.err
	}
	if u.id == "" { // empty object: an upload needs at least one part
		_, err := u.store.core.Client.PutObject(u.ctx, u.bucket, u.key, bytes.NewReader(nil), 0, minio.PutObjectOptions{})
		u.err, u.done = serviceError(u.path, err), err == nil
		return u.err
	}
	_, err := u.store.core.CompleteMultipartUpload(u.ctx, u.bucket, u.key, u.id, u.parts, minio.PutObjectOptions{})
	if minio.ToErrorResponse(err).Code == minio.NoSuchUpload && u.isComplete() {
		err = nil // an earlier attempt succeeded, but its response was lost
	}
	u.err, u.done = serviceError(u.path, err), err == nil
	return u.err
}

// isComplete reports whether the object exists with the size that was written.
func (u *Upload) isComplete() bool {
	info, err := u.store.core.StatObject(u.ctx, u.bucket, u.key, minio.StatObjectOptions{})
	return err == nil && info.Size == u.size
}

// Abort removes the parts unless the object was committed. The service removes the parts that Abort cannot remove, by
// its own rules. Abort may be called again.
func (u *Upload) Abort() {
	if u.done {
		return
	}
	u.done, u.err = true, errors.New("the upload was aborted")
	if u.id != "" {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), abortWait)
		defer cancel()
		u.store.core.AbortMultipartUpload(ctx, u.bucket, u.key, u.id)
	}
}
