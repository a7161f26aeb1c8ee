package work

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// A share file has the entries of one share of some inputs, for a join on another machine. It is a file of package
// store with these sections:
//
//	entries    as in a work file
//	share      the share, its settings, and its files in order: JSON
type shareHead struct {
	ndf.Share
	Files []shareFile
}

// A shareFile is a file of a share.
type shareFile struct {
	ndf.Input
	Entries uint64 // length of its entries, which follow the entries of the file before
}

// A ShareWriter writes the entries of a share to a file. It is an [ingest.Work]. Call Commit or Abort at the end.
type ShareWriter struct {
	out   *store.Writer
	share *input.Share
	head  shareHead
	err   error

	// Of the file that is being read.
	tail    []byte // entries that are not written yet
	written uint64
	source  string // source of the last document
}

// CreateShare begins the file of a share.
func CreateShare(d *disk.Disk, path string, s *input.Share) (*ShareWriter, error) {
	out, err := store.CreateWith(path, store.KindShare, 0, store.Options{Disk: d})
	if err != nil {
		return nil, err
	}
	out.Section("entries")
	return &ShareWriter{out: out, share: s, head: shareHead{Share: ndf.Share{Number: s.Number, Count: s.Count, Digest: s.Digest}}}, nil
}

// Begin notes the settings of the run.
func (w *ShareWriter) Begin(_ context.Context, _ []string, cfg *ingest.Config) error {
	w.head.Settings = cfg.Settings()
	return nil
}

// Stored returns nil: all files are read.
func (w *ShareWriter) Stored(input.File) (iter.Seq2[ingest.Entry, error], format.Checksum) {
	return nil, 0
}

// Keep writes an entry.
func (w *ShareWriter) Keep(e *ingest.Entry) {
	if w.tail = appendEntry(w.tail, e, w.source); e.Skip == nil {
		w.source = e.Source
	}
	if len(w.tail) >= tailBytes {
		w.flush()
	}
}

// Finish ends the entries of a file.
func (w *ShareWriter) Finish(f input.File, content format.Checksum) {
	w.flush()
	in := ndf.Input{File: f.Path, Order: w.share.Place(f.Path), Bytes: f.Size(), Content: content}
	w.head.Files = append(w.head.Files, shareFile{in, w.written})
	w.written, w.source = 0, ""
}

func (w *ShareWriter) flush() {
	if w.err == nil {
		_, w.err = w.out.Write(w.tail)
	}
	w.written += uint64(len(w.tail))
	w.tail = w.tail[:0]
}

// Commit completes the file.
func (w *ShareWriter) Commit() error {
	head, err := json.Marshal(w.head)
	if err = cmp.Or(w.err, err); err == nil {
		err = cmp.Or(store.WriteSection(w.out, "share", head), w.out.Commit())
	}
	return err
}

// Abort removes the file unless it was committed.
func (w *ShareWriter) Abort() { w.out.Abort() }

// Shares are the entries of all shares of some inputs. They are an [ingest.Work] that needs no input file.
type Shares struct {
	files  []*store.File
	stored map[string]storedFile
	job    string
}

// A storedFile has the entries of an input file.
type storedFile struct {
	section store.Section // of the share file
	entries []byte
	content format.Checksum
}

// OpenShares opens the files of all shares of some inputs, in any order, and verifies their checksums. It returns them
// with the list of the inputs. stream opens a path that is read rather than mapped, as [ndf.OpenOptions] describes. The
// error wraps [simhash.ErrMixed] if a share is missing, is given twice, or was read with other settings.
func OpenShares(ctx context.Context, d *disk.Disk, paths []string, threads int,
	stream func(string) (io.ReadCloser, string, error)) (_ *Shares, inputs *input.Share, err error) {
	s := &Shares{stored: map[string]storedFile{}}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	var shares []ndf.Share
	var list []ndf.Input
	for _, path := range paths {
		f, err := openShare(d, path, stream)
		if err != nil {
			return nil, nil, err
		}
		s.files = append(s.files, f)
		head, err := s.load(ctx, f, threads)
		if err != nil {
			return nil, nil, err
		}
		if shares = append(shares, head.Share); head.Count != shares[0].Count || head.Digest != shares[0].Digest {
			return nil, nil, simhash.Mixed("%s and %s are shares of different files, or of another number of shares", paths[0], path)
		}
		for _, in := range head.Files {
			list = append(list, in.Input)
		}
	}
	if err := ndf.CheckShares(paths, shares); err != nil {
		return nil, nil, err
	}
	s.job = shares[0].Settings.Job
	slices.SortFunc(list, func(a, b ndf.Input) int { return cmp.Compare(a.Order, b.Order) })
	files := []input.SharedFile{}
	for _, in := range list {
		files = append(files, input.SharedFile{Path: in.File, Place: in.Order, Bytes: in.Bytes})
	}
	return s, input.Listed(files), nil
}

func openShare(d *disk.Disk, path string, stream func(string) (io.ReadCloser, string, error)) (*store.File, error) {
	in, name, err := stream(path)
	switch {
	case err != nil:
		return nil, err
	case in == nil:
		return store.OpenOn(d, path, store.KindShare)
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return store.OpenBytes(name, data, store.KindShare)
}

// load reads the head of a share file, and finds the entries of its files.
func (s *Shares) load(ctx context.Context, f *store.File, threads int) (head shareHead, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	if err := f.Verify(ctx, threads, nil); err != nil {
		return head, err
	}
	section, err := f.Section("share")
	if err != nil {
		return head, err
	}
	entries, err := f.Section("entries")
	if err = cmp.Or(err, section.JSON(&head)); err != nil {
		return head, err
	}
	if head.Number < 0 || head.Number >= head.Count {
		return head, section.Corrupt(0, "share %d of %d", head.Number, head.Count)
	}
	rest := entries.Data
	for _, in := range head.Files {
		if in.Entries > uint64(len(rest)) {
			return head, section.Corrupt(0, "%s: %d bytes of entries: too many", in.File, in.Entries)
		}
		s.stored[in.File] = storedFile{entries, rest[:in.Entries], in.Content}
		rest = rest[in.Entries:]
	}
	return head, nil
}

// Close closes the files.
func (s *Shares) Close() (err error) {
	for _, f := range s.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// Begin returns an error if the shares were made for another job.
func (s *Shares) Begin(_ context.Context, _ []string, cfg *ingest.Config) error {
	if s.job != cfg.Job {
		return simhash.Mixed("%s has %q, and this command asks for %q: give the options that the shares were made with",
			s.files[0].Path(), s.job, cfg.Job)
	}
	return nil
}

// Stored returns the entries of a file.
func (s *Shares) Stored(f input.File) (iter.Seq2[ingest.Entry, error], format.Checksum) {
	stored := s.stored[f.Path]
	return func(yield func(ingest.Entry, error) bool) {
		err := readEntries(stored.entries, yield)
		if errors.Is(err, errEntry) {
			err = stored.section.Corrupt(0, "%v, for %s", errEntry, f.Path)
		}
		if err != nil {
			yield(ingest.Entry{}, err)
		}
	}, stored.content
}

// Keep is never called, because no file is read.
func (s *Shares) Keep(*ingest.Entry) {}

// Finish is never called, because no file is read.
func (s *Shares) Finish(input.File, format.Checksum) {}
