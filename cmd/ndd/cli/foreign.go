package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"example.org/ndd/engine/result"
	"example.org/ndd/engine/storage/store"
)

// checkReplaceable returns an error if the file at path cannot be an earlier output of the command, which --force
// replaces. It may be a file of ndd by its first bytes, whole integers in a .bin file, or a table
// with columns of the command. Other texts cannot be recognised, and are replaced. Replacing an empty file loses
// nothing.
func checkReplaceable(path string, columns []result.Column) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // the file does not exist, or writing reports why it cannot be replaced
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 || !info.Mode().IsRegular() {
		return err
	}
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if isOwn(f, info.Size(), head[:n], filepath.Ext(path), columns) {
		return nil
	}
	return fmt.Errorf("%s: is no earlier output of this command, and --force replaces only those: choose another name", path)
}

func isOwn(f io.ReaderAt, size int64, head []byte, ending string, columns []result.Column) bool {
	switch {
	case store.HasMagic(head):
		return true
	case ending == ".bin":
		return size%8 == 0
	case ending == ".ndf" || ending == ".sigs" || ending == ".sets":
		return false
	case len(columns) == 0:
		return true
	}
	names := columnNames(f, size, head)
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(columns, func(c result.Column) bool { return c.Name == name })
	})
}

// columnNames returns the names of the columns of a table in TSV, JSON lines or Parquet.
func columnNames(f io.ReaderAt, size int64, head []byte) (names []string) {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	var object map[string]json.RawMessage
	switch {
	case bytes.HasPrefix(head, []byte("PAR1")):
		file, err := parquet.OpenFile(f, size)
		if err != nil {
			return nil
		}
		for _, column := range file.Root().Columns() {
			names = append(names, column.Name())
		}
	case json.Unmarshal(line, &object) == nil:
		for name := range object {
			names = append(names, name)
		}
	default:
		names = strings.Split(strings.TrimSuffix(string(line), "\r"), "\t")
	}
	return names
}
