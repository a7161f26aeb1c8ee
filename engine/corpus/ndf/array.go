package ndf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// Endings are the file name endings that a [Writer] supports.
var Endings = []string{".ndf", ".npy", ".bin"}

// IsBare reports whether a file with this name holds only fingerprints, without IDs, lengths and recipe.
func IsBare(path string) bool { return slices.Index(Endings, filepath.Ext(path)) > 0 }

// An arrayFile is a file with an array of fingerprints that is being written. A NumPy file begins with a header.
type arrayFile struct {
	file    *disk.File
	isNpy   bool
	n       uint64 // numbers so far
	leftOut int    // documents without a fingerprint
}

func createArray(path string, d *disk.Disk) (*arrayFile, error) {
	file, err := d.Create(path)
	if err != nil {
		return nil, err
	}
	a := &arrayFile{file: file, isNpy: filepath.Ext(path) == ".npy"}
	if a.isNpy {
		if _, err := file.Write(npyHeader(0)); err != nil {
			file.Abort()
			return nil, err
		}
	}
	return a, nil
}

// commit completes the header and publishes the file.
func (a *arrayFile) commit() error {
	if a.isNpy {
		if _, err := a.file.WriteAt(npyHeader(a.n), 0); err != nil {
			a.file.Abort()
			return err
		}
	}
	return a.file.Commit()
}

// npyHeader returns the header of a NumPy array of n numbers. It has version 1 and 128 bytes.
func npyHeader(n uint64) []byte {
	const size, prefix = 128, 10
	text := fmt.Sprintf("{'descr': '<u8', 'fortran_order': False, 'shape': (%d,), }", n)
	header := append(slices.Clone(npyMagic), 1, 0)
	header = binary.LittleEndian.AppendUint16(header, size-prefix)
	return append(header, text+strings.Repeat(" ", size-prefix-len(text)-1)+"\n"...)
}

// A NumPy array is a text header, followed by the numbers in their format in memory
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html):
//
//	"\x93NUMPY" | major minor | header length: 2 bytes, from version 2 on 4 | {'descr': '<u8', ..., 'shape': (3,), }
//	| uint64 ...
//
// The header is padded so that the numbers begin at a multiple of 64.
var (
	npyMagic   = []byte("\x93NUMPY")
	npyDescr   = regexp.MustCompile(`'descr':\s*'([^']*)'`)
	npyFortran = regexp.MustCompile(`'fortran_order':\s*(True|False)`)
	npyShape   = regexp.MustCompile(`'shape':\s*\(([^)]*)\)`)
	npyOneDim  = regexp.MustCompile(`^\s*(\d+)\s*,?\s*$`)
)

// npyNumbers returns the numbers of a one-dimensional array of little-endian uint64. For all other arrays it returns
// an error.
func npyNumbers(path string, data []byte) ([]byte, error) {
	wrong := func(offset int, format string, args ...any) error {
		return &store.CorruptError{File: path, Section: "NumPy array", Block: -1, Offset: int64(offset),
			Reason: fmt.Sprintf(format, args...)}
	}
	// Find the header, whose length has two or four bytes, depending on the version.
	const prefix = 10
	if len(data) < prefix+2 {
		return nil, wrong(0, "%d bytes: cut short in the header", len(data))
	}
	from, length := prefix, int(binary.LittleEndian.Uint16(data[8:]))
	switch data[6] {
	case 1:
	case 2, 3:
		from, length = prefix+2, int(min(binary.LittleEndian.Uint32(data[8:]), 1<<30))
	default:
		return nil, wrong(6, "version %d of the format is not known", data[6])
	}
	if length > len(data)-from {
		return nil, wrong(8, "a header of %d bytes in a file of %d", length, len(data))
	}
	header, numbers := data[from:from+length], data[from+length:]
	// The header must describe a one-dimensional array of little-endian uint64.
	descr, shape := npyDescr.FindSubmatch(header), npyShape.FindSubmatch(header)
	if descr == nil || shape == nil || npyFortran.Find(header) == nil {
		return nil, wrong(from, "the header is not one of an array: %.100q", header)
	}
	if string(descr[1]) != "<u8" {
		return nil, wrong(from, "an array of type %.20q, where fingerprints are uint64: save array.astype('<u8')", descr[1])
	}
	dimension := npyOneDim.FindSubmatch(shape[1])
	if dimension == nil {
		return nil, wrong(from, "an array of shape (%.40s), where fingerprints have one dimension", shape[1])
	}
	// The numbers must fill the rest of the file and be aligned, because they are used in place.
	n, err := strconv.ParseUint(string(dimension[1]), 10, 48)
	if err != nil || n*8 != uint64(len(numbers)) {
		return nil, wrong(from+length, "%d bytes of numbers, where the header says %s numbers of 8", len(numbers), dimension[1])
	}
	if (from+length)%8 != 0 {
		return nil, wrong(from, "the numbers begin at byte %d, which is no multiple of 8", from+length)
	}
	return numbers, nil
}

// isNpy reports whether data is a NumPy array.
func isNpy(data []byte) bool { return bytes.HasPrefix(data, npyMagic) }
