package server

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"ndd/engine/corpus/document"
)

// Shown documents are those of the files that the server itself has loaded, where it was told to show them: a text that is sent
// is then compared with the file of a hit. What a request names is looked up among the IDs of what was loaded, and is never
// made a path: no other file can be read, whatever the ID is. A file is read each time, with the limit of a body, and may have changed.

// shownText returns the text of a document that was loaded from a file of its own.
func (s *service) shownText(ctx context.Context, id, place string) (string, *problem) {
	if !s.loading.shows() {
		return "", notShown(place, "no file is shown by a server that was started without --show-files: send the text, as b")
	}
	path, ok := s.loading.path(id)
	if ok {
		var err error
		if _, ok, err = s.index.Load().Find(id); err != nil {
			return "", broken(err)
		}
	}
	if !ok { // not loaded, or deleted since
		return "", notShown(place, "no document that was loaded from a file, and may be shown, has this id")
	}
	info, err := os.Stat(path)
	switch {
	case err != nil || !info.Mode().IsRegular():
		return "", notShown(place, "the document is no file of its own any more")
	case info.Size() > s.limits.Body:
		return "", refusal(http.StatusRequestEntityTooLarge, fmt.Sprintf("the document's file: %d bytes, more than %d (--max-body)", info.Size(), s.limits.Body))
	}
	if err := visitOf(ctx).account().Grow(2 * uint64(info.Size())); err != nil { // as it is, and as text
		return "", shed(err)
	}
	options := document.Options{Strict: true, MaxDocumentBytes: s.limits.Body}
	if recipe := s.index.Load().Recipe(); recipe != nil {
		options.Extract = document.Extract(recipe.Extract)
	}
	for doc, err := range document.Read(ctx, []string{path}, options, nil) {
		if err != nil || doc.Line != 0 {
			break
		}
		return doc.Text, nil
	}
	return "", notShown(place, "the document is no file of its own any more")
}

// notShown is the answer where there is no document to be shown.
func notShown(place, why string) *problem {
	p := misfit(place, "%s", why)
	p.Status, p.Title = http.StatusNotFound, http.StatusText(http.StatusNotFound)
	return p
}

// show has the files of loaded documents be shown from now on. It is called before any is loaded.
func (l *Loading) show() { l.paths = map[string]string{} }

// shows says whether files are shown.
func (l *Loading) shows() bool { return l.paths != nil }

// remember notes the file of a document. It needs l.mu.
func (l *Loading) remember(id string) {
	if l.paths == nil {
		return
	}
	if path, err := filepath.Abs(id); err == nil {
		l.paths[id] = path
	}
}

// path returns the file of a document that was loaded and may be shown.
func (l *Loading) path(id string) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	path, ok := l.paths[id]
	return path, ok
}
