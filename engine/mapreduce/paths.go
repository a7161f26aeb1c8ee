package mapreduce

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"ndd/engine/corpus/ndf"
	"ndd/engine/near/scan"
	"ndd/engine/storage/store"
)

// pathChunks reads the files that the input names: here, or by WebHDFS.
func (t *task) pathChunks(ctx context.Context, each func(chunk) error) error {
	return t.paths(ctx, func(p inputPath) error {
		if isRemote(p.name) {
			return t.remoteChunks(ctx, p, each)
		}
		f, err := ndf.Open(p.name)
		if err != nil {
			return err
		}
		return t.fileChunk(ctx, p, f, each)
	})
}

// An inputPath is a file of fingerprints that a map's input names.
type inputPath struct {
	name     string
	first    uint64 // row of its first fingerprint
	numbered bool   // whether that is known
}

// label returns what stands before the row of a fingerprint without an ID.
func (p *inputPath) label() string {
	if p.numbered {
		return ""
	}
	return path.Base(p.name)
}

// fileChunk calls each with a file's fingerprints, and closes the file.
func (t *task) fileChunk(ctx context.Context, p inputPath, f *ndf.File, each func(chunk) error) error {
	defer f.Close()
	if s := f.Store(); s != nil {
		if err := s.Verify(ctx, t.Threads, nil); err != nil {
			return err
		}
	}
	if err := t.sameRecipe(p.name, f.Recipe()); err != nil {
		return err
	}
	id := rowID(p.label(), p.first)
	if f.HasIDs() {
		ids := f.Lookup()
		id = func(dst []byte, i int) ([]byte, error) {
			s, err := ids.ID(uint64(i))
			return appendEscaped(dst, s), err
		}
	}
	t.counters.add(fingerprints, int64(f.Len()))
	if f.Len() == 0 {
		return nil
	}
	return each(chunk{scan.Slice(f.Fingerprints(), 0), id})
}

// remoteChunks reads a file of HDFS: an array of fingerprints as it comes, and any other whole.
func (t *task) remoteChunks(ctx context.Context, p inputPath, each func(chunk) error) error {
	body, length, err := t.openRemote(ctx, p.name)
	if err != nil {
		return err
	}
	defer body.Close()
	in := bufio.NewReaderSize(body, 1<<16)
	start, err := in.Peek(ndf.StartBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if ndf.IsArray(p.name, start) {
		return t.remoteArray(ctx, p, in, each)
	}
	reserved, err := t.reserve("reading "+p.name, 3*length)
	if err != nil {
		return err
	}
	defer reserved.Release() // of the buffers that grow; what stays is a chunk's
	f, err := ndf.Read(in, p.name)
	if err != nil {
		return err
	}
	return t.fileChunk(ctx, p, f, each)
}

// remoteArray reads an array of fingerprints.
func (t *task) remoteArray(ctx context.Context, p inputPath, in io.Reader, each func(chunk) error) error {
	reserved, err := t.Budget.Reserve("reading "+p.name, aheadBytes)
	if err != nil {
		return err
	}
	defer reserved.Release()
	if err := t.sameRecipe(p.name, nil); err != nil {
		return err
	}
	buffer, first := store.Bytes64(make([]uint64, 1<<15)), p.first
	r := rawInput{t: t, name: p.label(), next: func() (part rawPart, err error) {
		n, err := io.ReadFull(in, buffer)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && n%8 != 0 {
			err = fmt.Errorf("%s: %w", p.name, errHalf(buffer[:n]))
		}
		part = rawPart{buffer[:n], first, true}
		first += uint64(n / 8)
		return part, err
	}}
	return r.chunks(each)
}

// paths calls each with the paths of a map's input. What a framework puts before a line, its offset, is passed over.
func (t *task) paths(ctx context.Context, each func(inputPath) error) error {
	in := newLines(t.In)
	for {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		fields := strings.Split(string(line), "\t")
		if _, err := strconv.ParseUint(fields[0], 10, 64); err == nil && len(fields) > 1 && strings.Contains(fields[1], "/") {
			fields = fields[1:]
		}
		if fields[0] == "" {
			continue
		}
		t.counters.add(recordsIn, 1)
		p := inputPath{name: fields[0], numbered: len(fields) > 1 && fields[1] != ""}
		if p.numbered {
			if p.first, err = strconv.ParseUint(fields[1], 10, 64); err != nil {
				return fmt.Errorf("line %d: %.40q is not the row of a file's first fingerprint", in.n, fields[1])
			}
		}
		if t.Status != nil {
			t.Status("reading " + p.name)
		}
		if err := each(p); err != nil {
			return fmt.Errorf("line %d: %w", in.n, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}
