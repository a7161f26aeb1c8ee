package copies

import (
	"context"
	"errors"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/storage/idlist"
)

// A library has the open signature files of --against. Its documents have the first numbers of a detector.
type library struct {
	files []*copies.File
	names []*idlist.Cursor
}

func openLibrary(ctx context.Context, g *cli.Files, paths []string) (l *library, err error) {
	l = new(library)
	for _, path := range paths {
		f, err := copies.Open(ctx, path, g.Threads)
		if err != nil {
			return nil, errors.Join(err, l.close())
		}
		l.files, l.names = append(l.files, f), append(l.names, f.Names())
	}
	return l, nil
}

func (l *library) close() (err error) {
	for _, f := range l.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// documents returns the number of documents of all files.
func (l *library) documents() (n uint64) {
	for _, f := range l.files {
		n += f.Documents()
	}
	return n
}

// addTo adds all documents to a detector, and marks them as known.
func (l *library) addTo(d *copies.Detector) error {
	if len(l.files) == 0 {
		return nil
	}
	for _, f := range l.files {
		if err := d.AddFile(f); err != nil {
			return err
		}
	}
	d.MarkKnown()
	return nil
}

// id returns the ID of a document.
func (l *library) id(doc uint64) (string, error) {
	i := 0
	for ; doc >= l.files[i].Documents(); i++ {
		doc -= l.files[i].Documents()
	}
	return l.names[i].ID(doc)
}
