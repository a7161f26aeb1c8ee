package simhash

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// A Resource is a file that a recipe needs. Its contents are part of the recipe, its path is not.
type Resource struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"` // digest of the contents: 64 lower-case hexadecimal digits
}

// Limits of resources.
const (
	resourceBytes  = 128 << 20
	resourceLine   = 4 << 10
	stopListRows   = 1 << 17
	dictionaryRows = 1 << 20
)

// String returns the name of the file and the digest.
func (r Resource) String() string {
	return fmt.Sprintf("%s (SHA-256 %s)", cmp.Or(r.File, "a file"), r.SHA256)
}

func (r *Resource) validate() error {
	if *r == (Resource{}) {
		return nil
	}
	if sum, err := hex.DecodeString(r.SHA256); err != nil || len(sum) != sha256.Size || strings.ToLower(r.SHA256) != r.SHA256 {
		return fmt.Errorf("sha256 is %.80q, must be 64 lower-case hexadecimal digits", r.SHA256)
	}
	if r.File == "" {
		return errors.New("file is missing")
	}
	return nil
}

// complete makes the path absolute and adds the digest if it is absent. A relative path is relative to dir.
func (r *Resource) complete(dir string) (err error) {
	if r.File == "" {
		return nil
	}
	if !filepath.IsAbs(r.File) {
		if r.File, err = filepath.Abs(filepath.Join(dir, r.File)); err != nil {
			return err
		}
	}
	if r.SHA256 == "" {
		_, r.SHA256, err = r.read()
	}
	return err
}

// read returns the contents of the file and their digest.
func (r *Resource) read() (data []byte, digest string, err error) {
	if info, err := os.Stat(r.File); err == nil && !info.Mode().IsRegular() {
		return nil, "", fmt.Errorf("%s is not a regular file", r.File)
	}
	f, err := os.Open(r.File)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	if data, err = io.ReadAll(io.LimitReader(f, resourceBytes+1)); err != nil {
		return nil, "", err
	}
	if len(data) > resourceBytes {
		return nil, "", fmt.Errorf("%s has more than %d bytes, the limit of files that recipes name", r.File, resourceBytes)
	}
	sum := sha256.Sum256(data)
	return data, hex.EncodeToString(sum[:]), nil
}

// rows calls add with each row of the file that is neither empty nor a comment. Its errors name the file and the row.
func (r *Resource) rows(rowsMax int, add func(row string) error) error {
	// The file must be the one that the recipe was made with.
	data, digest, err := r.read()
	if err != nil {
		return fmt.Errorf("%w; the recipe needs this file, with SHA-256 %s", err, r.SHA256)
	}
	if digest != r.SHA256 {
		return fmt.Errorf("%w: %s has SHA-256 %s, and the recipe was made with %s", ErrMixed, r.File, digest, r.SHA256)
	}
	// Check each row, and stop at the first error.
	n, rows := 0, 0
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case len(line) > resourceLine:
			err = fmt.Errorf("%d bytes, the limit of a row is %d", len(line), resourceLine)
		case !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0:
			err = errors.New("not text in UTF-8")
		case len(bytes.TrimSpace(line)) == 0 || line[0] == '#':
			continue
		case rows == rowsMax:
			err = fmt.Errorf("more than %d rows, which is the limit", rowsMax)
		default:
			err = add(string(line))
		}
		if rows++; err != nil {
			return fmt.Errorf("%s, row %d: %w", r.File, n, err)
		}
	}
	if rows == 0 {
		return fmt.Errorf("%s: has no rows", r.File)
	}
	return nil
}
