// Package magic names the format of a file by its first bytes.
package magic

import "bytes"

// starts are the first bytes of formats. None of them is text, or begins one.
var starts = []struct{ bytes, format string }{
	{"%PDF-", "a PDF document"},
	{"\x89PNG", "a PNG image"},
	{"\xff\xd8\xff", "a JPEG image"},
	{"GIF8", "a GIF image"},
	{"PK\x03\x04", "a ZIP archive, as .npz, .docx, .xlsx and .epub files are"},
	{"PK\x05\x06", "an empty ZIP archive"},
	{"\x7fELF", "a program (ELF)"},
	{"\xcf\xfa\xed\xfe", "a program (Mach-O)"},
	{"\xca\xfe\xba\xbe", "a program (Mach-O or Java)"},
	{"MZ\x90\x00", "a program (PE)"},
	{"!<arch>\n", "an ar archive"},
	{"7z\xbc\xaf", "a 7-Zip archive"},
	{"Rar!\x1a", "a RAR archive"},
	{"\x1f\x8b\x08", "compressed by gzip"},
	{"\x1f\x9d\x90", "compressed by compress, which gzip -d reads"},
	{"LZIP\x01", "compressed by lzip"},
	{"\x28\xb5\x2f\xfd", "compressed by zstd"},
	{"\x04\x22\x4d\x18", "compressed by lz4"},
	{"\xfd7zXZ\x00", "compressed by xz"},
	{"PAR1", "a Parquet file"},
	{"ARROW1\x00\x00", "an Arrow file"},
	{"Obj\x01", "an Avro file"},
	{"\x93NUMPY", "a NumPy array with a header"},
	{"\x89HDF\r\n\x1a\n", "an HDF5 file"},
	{"SQLite format 3\x00", "an SQLite database"},
	{"nddhead\n", "a file that ndd wrote: of fingerprints, or part of an index"},
}

// A tar archive has tarMagic at byte tarAt. A bzip2 file has bzipBlock after "BZh" and a digit.
const (
	tarMagic  = "ustar"
	tarAt     = 257
	bzipBlock = "1AY&SY"
)

// Format returns the format of a file that begins with start, such as "a PNG image". It returns "" for text and unknown
// formats.
func Format(start []byte) string {
	for _, s := range starts {
		if bytes.HasPrefix(start, []byte(s.bytes)) {
			return s.format
		}
	}
	switch {
	case len(start) > tarAt && bytes.HasPrefix(start[tarAt:], []byte(tarMagic)):
		return "a tar archive"
	case len(start) > 4 && bytes.HasPrefix(start, []byte("BZh")) && bytes.HasPrefix(start[4:], []byte(bzipBlock)):
		return "compressed by bzip2"
	}
	return ""
}
