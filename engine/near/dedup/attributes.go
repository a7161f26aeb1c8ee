package dedup

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"ndd/engine/corpus/document"
	"ndd/engine/result"
)

// A file of attributes has a line for each document of a file, in order, as Dolma reads them:
//
//	{"id":"a","attributes":{"ndd_kept":[[0,96,0]],"ndd_distance":[[0,96,2]]}}
//
// The span is the whole text, in characters. Fields that are strings have no place in it. A record that
// is no document has a line without attributes, so that the lines go together.
type attributed struct {
	ID         *string                 `json:"id"`
	Attributes map[string][][3]float64 `json:"attributes"`
}

// attributes writes the file of attributes of a file.
func (k *copier) attributes() (err error) {
	k.head, _ = k.file.Head(k.ctx, k.opts) // of a file that cannot be read there are no lines
	if k.head.Format == "" {
		return k.end()
	}
	name, err := k.to.name(k.file, "")
	if err != nil {
		return err
	}
	packing := document.Gzip
	if strings.HasSuffix(name, ".zst") {
		packing = document.Zstd
	} else if !strings.HasSuffix(name, ".gz") {
		name += ".gz"
	}
	return k.to.Create(name, func(w io.Writer) error {
		z, err := stream(w, packing)
		if err != nil {
			return err
		}
		lines := bufio.NewWriterSize(z, 64<<10)
		err = k.eachLine(func(a *attributed) error {
			line, err := json.Marshal(a)
			if err == nil {
				_, err = lines.Write(append(line, '\n'))
			}
			return err
		})
		if err == nil {
			err = k.end()
		}
		err = errors.Join(err, lines.Flush(), z.Close())
		if err != nil {
			return fmt.Errorf("attributes of %s: %w", k.file.Path, err)
		}
		return nil
	})
}

// eachLine calls do with the lines of a file.
func (k *copier) eachLine(do func(*attributed) error) error {
	none := map[string][][3]float64{}
	for u, err := range k.file.Scan(k.ctx, k.opts, nil) {
		if skip, skipped := errors.AsType[*document.Skip](err); skipped {
			if err = nil; skip.Line == 0 || !skip.Reason.LosesData() || skip.Reason == document.Unreadable {
				continue // no document, or the rest of the file
			}
			for range max(skip.Rows, 1) {
				err = errors.Join(err, do(&attributed{nil, none}))
			}
		} else if err == nil {
			err = k.line(u, do)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (k *copier) line(u document.Unit, do func(*attributed) error) error {
	v, err := k.judge(u)
	if err != nil {
		return err
	}
	a := &attributed{nil, map[string][][3]float64{}}
	doc, err := k.extractor.Borrow(u)
	if err != nil {
		k.report.Unnoted++
		return do(a)
	}
	a.ID = &doc.ID
	chars := float64(utf8.RuneCountInString(doc.Text))
	for i, value := range k.fields.Values(v.Note) {
		n := 0.0
		switch value := value.(type) {
		case int64:
			n = float64(value)
		case float64:
			n = result.Rounded(value)
		case bool:
			if value {
				n = 1
			}
		default:
			continue
		}
		a.Attributes[k.fields.Columns[i].Name] = [][3]float64{{0, chars, n}}
	}
	return do(a)
}
