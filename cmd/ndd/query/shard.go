package query

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/minio/highwayhash"

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/simhash"
	"ndd/engine/result"
)

// A shard is the i-th of n equal parts of the work; {0, 1} is all of it.
type shard struct{ i, n uint64 }

func parseShard(s string) (shard, error) {
	i, n, err := cli.ShardOf(s)
	return shard{uint64(i), uint64(n)}, err
}

// of returns the shard's part of total rows: the parts of all shards are the whole, and
// differ by one row at most.
func (s shard) of(total uint64) (from, to uint64) {
	cut := func(i uint64) uint64 {
		hi, lo := bits.Mul64(total, i)
		q, _ := bits.Div64(hi, lo, s.n)
		return q
	}
	return cut(s.i), cut(s.i + 1)
}

func (s shard) String() string { return fmt.Sprintf("%d/%d", s.i, s.n) }

// A success is the file beside a shard's output, named as that with ._SUCCESS behind
// it, which appears after the output itself. It says what the output was made from,
// so that a rerun knows whether that is still so, and what it is.
//
//	inputs changed or other settings  -> refused
//	the same, and the output is whole -> nothing to do
//	the same, or no such file         -> made again
type success struct {
	Made   made       `json:"made"`
	Output fileRecord `json:"output"`
	Totals totals     `json:"totals"`
}

// made is what an output depends on.
type made struct {
	Program int             `json:"format"` // of this record and of the outputs
	Shard   string          `json:"shard"`
	Queries fileRecord      `json:"queries"` // the shard's
	Scan    bool            `json:"scan"`
	Against fileRecord      `json:"against"` // the shard's part of F, or the index's manifest
	K       int             `json:"k"`
	Recipe  *simhash.Recipe `json:"recipe"`
	Format  string          `json:"outputFormat"`
	Unique  bool            `json:"unique"`
	MaxIDs  uint64          `json:"maxIDs"` // always 0; the records of earlier versions have it

	MaxLengthRatio float64 `json:"maxLengthRatio"`
	Verify         string  `json:"verify"` // how texts are compared; empty: they are not
}

// successVersion counts changes of outputs and of this record.
const successVersion = 1

// differences lists the settings in which the requested output differs from the existing one, which
// m describes.
func (m made) differences(asked made) string {
	var fields [2]map[string]json.RawMessage
	for i, of := range []made{m, asked} {
		data, err := json.Marshal(of)
		if err == nil {
			err = json.Unmarshal(data, &fields[i])
		}
		if err != nil {
			return err.Error()
		}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(fields[0])) {
		was, is := fields[0][name], fields[1][name]
		switch {
		case bytes.Equal(was, is):
		case was[0] == '{' || is[0] == '{':
			all = append(all, "other "+name)
		default:
			all = append(all, fmt.Sprintf("%s was %s and is now %s", name, was, is))
		}
	}
	return strings.Join(all, "; ")
}

// fileRecord identifies contents by size and HighwayHash-64 under the key 0.
type fileRecord struct {
	Bytes  uint64 `json:"bytes"`
	Digest string `json:"digest"`
}

// totals are the counts that a batch reports at the end.
type totals struct {
	Queries  int    `json:"queries"`
	WithHits uint64 `json:"withHits"`
	Hits     uint64 `json:"hits"`
	LeftOut  uint64 `json:"leftOut"` // always 0, like made.MaxIDs
	Checksum string `json:"checksum"`
}

func totalsOf(queries int, t *result.Tally) totals {
	return totals{queries, t.WithHits, t.Hits, 0, fmt.Sprintf("%016x", t.Sum)}
}

// recordOf reads all of r.
func recordOf(ctx context.Context, r io.Reader) (fileRecord, error) {
	h, err := highwayhash.New64(make([]byte, highwayhash.Size))
	if err != nil {
		return fileRecord{}, err
	}
	n, err := io.CopyBuffer(h, contextReader{ctx, r}, make([]byte, 1<<20))
	return fileRecord{uint64(n), hex.EncodeToString(h.Sum(nil))}, err
}

// contextReader fails when ctx has ended. It hides other methods of the reader, so that
// the copy goes through its buffer.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

func recordOfFile(ctx context.Context, path string) (fileRecord, error) {
	f, err := os.Open(path)
	if err != nil {
		return fileRecord{}, err
	}
	defer f.Close()
	return recordOf(ctx, f)
}

func successPath(output string) string { return output + "._SUCCESS" }

// finished reads the record of an earlier run; nil if the output is missing or incomplete. An
// output of other inputs or settings is an error.
func finished(ctx context.Context, output string, m made) (*success, error) {
	data, err := os.ReadFile(successPath(output))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s success
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return nil, fmt.Errorf("%s: %w: remove it to make %s again", successPath(output), err, output)
	}
	if other := s.Made.differences(m); other != "" {
		return nil, fmt.Errorf("%s was made with different inputs or settings (%s): remove it and %s, or choose another name",
			output, other, filepath.Base(successPath(output)))
	}
	switch is, err := recordOfFile(ctx, output); {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case is != s.Output:
		return nil, nil // not what was written: made again
	}
	return &s, nil
}

// write puts the record beside the output.
func (s *success) write(g *cli.Globals, output string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return g.WriteOutput(successPath(output), func(o *cli.Output) error {
		_, err := o.Write(append(data, '\n'))
		return err
	})
}
