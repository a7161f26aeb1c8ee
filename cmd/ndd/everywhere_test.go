package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/result"
)

// A testText is a document that a test writes to a file.
type testText struct{ id, text string }

// The same three documents in every container format for several documents, with the expected result of each.
var everywhere = []testText{
	{"one", "The boats at the quay have been painted and the sails are with the maker until the spring."},
	{"two", "The committee met four times this year and agreed on rules about noise, parking and dogs."},
	{"three", "Rivers carry stones from the mountains to the plain, and they become smaller on the way."},
}

// parquetOf returns a Parquet file of documents.
func parquetOf(t *testing.T, documents []testText) []byte {
	t.Helper()
	var b bytes.Buffer
	w := result.NewTableWriter(&b, result.Parquet, result.Column{Name: "id", Kind: result.Text},
		result.Column{Name: "text", Kind: result.Text})
	for _, d := range documents {
		w.Text(d.id).Text(d.text).End()
	}
	must.Do(t, w.Close())
	return b.Bytes()
}

// A container writes the documents, or only the first one if it holds one document.
type container struct {
	name   string // extension of the file
	single bool   // it holds one document, whose ID is the file's name
	seeks  bool   // the format is read from its end, so it must be an uncompressed file or object
	write  func(t *testing.T) []byte
}

func lines(format string) func(*testing.T) []byte {
	return func(*testing.T) []byte {
		var b strings.Builder
		for _, d := range everywhere {
			fmt.Fprintf(&b, format, d.id, d.text)
		}
		return []byte(b.String())
	}
}

var containers = []container{
	{name: "jsonl", write: lines("{\"id\":%q,\"text\":%q}\n")},
	{name: "json", write: func(t *testing.T) []byte {
		return []byte("[" + strings.TrimSuffix(strings.ReplaceAll(string(lines("{\n \"id\": %q,\n \"text\": "+
			"%q\n}\n")(t)), "}\n{", "},\n{"), "\n") + "]\n")
	}},
	{name: "csv", write: func(t *testing.T) []byte { return append([]byte("id,text\n"), lines("%s,%q\n")(t)...) }},
	{name: "tsv", write: func(t *testing.T) []byte { return append([]byte("id\ttext\n"), lines("%s\t%s\n")(t)...) }},
	{name: "warc", write: func(*testing.T) []byte {
		var b strings.Builder
		for _, d := range everywhere {
			fmt.Fprintf(&b, "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: %s\r\nContent-Type: "+
				"text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", d.id, len(d.text), d.text)
		}
		return []byte(b.String())
	}},
	{name: "parquet", seeks: true, write: func(t *testing.T) []byte { return parquetOf(t, everywhere) }},
	{name: "txt", single: true, write: func(*testing.T) []byte { return []byte(everywhere[0].text) }},
	{name: "html", single: true, write: func(*testing.T) []byte {
		return []byte("<html><body><p>" +
			everywhere[0].text + "</p></body></html>")
	}},
}

// packings compress containers. This program has no encoder of xz and bzip2, so these files were made once, from the
// first container.
var packings = []struct {
	ending string
	pack   func([]byte) []byte
	only   string // the container that there is a file of
}{
	{"", func(b []byte) []byte { return b }, ""},
	{".gz", gzipped[[]byte], ""},
	{".zst", zstded, ""},
	{".xz", fixed(xzJSONL), "jsonl"},
	{".bz2", fixed(bzip2JSONL), "jsonl"},
}

func fixed(digits string) func([]byte) []byte {
	b, _ := hex.DecodeString(digits)
	return func([]byte) []byte { return b }
}

// places are the places of a file: the argument that names it, and its name, which is the ID of a single document.
var places = [][2]string{
	{"DIR/in/FILE", "DIR/in/FILE"},
	{"DIR/in", "DIR/in/FILE"},
	{"DIR/i*/*END", "DIR/in/FILE"},
	{"-", "-"},
	{"s3://docs/in/FILE", "s3://docs/in/FILE"},
	{"s3://docs/in/", "s3://docs/in/FILE"},
	{"s3://docs/in/*END", "s3://docs/in/FILE"},
	{"URL/docs/in/FILE", "URL/docs/in/FILE"},
}

// format returns the value of --input-format for standard input, which has no name.
func (c *container) format() string {
	switch c.name {
	case "tsv": // only the extension selects tabs as the separator
		return ""
	case "txt":
		return "text"
	}
	return c.name
}

// TestEverywhere reads every container format, in every compression and from every place. The documents are always
// the same. Unsupported combinations return an error with the reason.
func TestEverywhere(t *testing.T) {
	var want []string
	for _, d := range everywhere {
		_, out, _ := onMachine(t, memory.Machine{}, d.text, "fingerprint", "-q", "--input-format", "text", "-")
		want = append(want, strings.Replace(out, "\t-\n", "\t"+d.id+"\n", 1))
	}
	for _, c := range containers {
		for _, packing := range packings {
			if packing.only != "" && packing.only != c.name {
				continue
			}
			t.Run(c.name+packing.ending, func(t *testing.T) {
				s, dir, file := newBucket(t), t.TempDir(), "docs."+c.name+packing.ending
				content := packing.pack(c.write(t))
				writeFile(t, filepath.Join(dir, "in", file), content)
				s.Put(t, "in/"+file, content)
				at := strings.NewReplacer("DIR", dir, "FILE", file, "END", file[len(file)-3:], "URL", s.URL)
				for _, place := range places {
					input, want := at.Replace(place[0]), strings.Join(want, "")
					if c.single {
						fingerprint, _, _ := strings.Cut(want, "\t")
						want = fingerprint + "\t" + at.Replace(place[1]) + "\n"
					}
					c.check(t, input, string(content), want, packing.ending != "")
				}
			})
		}
	}
}

// check reads a cell of the table.
func (c *container) check(t *testing.T, input, content, want string, packed bool) {
	t.Helper()
	args := []string{"fingerprint"}
	if input == "-" {
		if c.format() == "" {
			return // --input-format has no value for this container
		}
		args = append(args, "--input-format", c.format())
	}
	status, out, messages := onMachine(t, memory.Machine{}, content, append(args, input)...)
	if c.seeks && (packed || input == "-") { // Parquet compresses page by page, and a pipe has been read at its end
		if status == exitDone || !strings.Contains(messages, "a Parquet file is read from its end") {
			t.Errorf("%s: status %d, %s: want an error", input, status, messages)
		}
	} else if status != exitDone || out != want {
		t.Errorf("%s: status %d, %s: %q, want %q", input, status, messages, out, want)
	}
}

// The first container, compressed by xz and by bzip2.
const (
	xzJSONL    = "fd377a585a000004e6d6b4460200210116000000742fe5a3e0015100e45d003d88892681935385c9e5110d44cbcf1760d76709c79f6caf970209811b36e2e8b1c65ed873822c9de550ce1ef5f4e0c03f121ae33f3b47561539cb52b2620fea89d36438e671d4cbfdfbdd442e5bea8a7c54903186117963456e625eb49fdd4979a6bb12079df385ec49b3a2447e69d240e569cf847bfa31424b8ce390ee4394f6b9aec3741b8dab36c878ce325346017cf83ecab21c3b618e1f457bc72e143c60556cf5790d65c5bb1ade94ad25c421fb0af6389e9534d9a9c5084337838d67815abb70c201e87fddbc3ad7162e22e63a02d4c03acf777140ec20975569145fc7e78380003296758aa22b30c100018002d20200001936fc28b1c467fb020000000004595a"
	bzip2JSONL = "425a68393141592653596b9ff4ed0000a65b8000105005001014003fefffea3000d8588a78a69a7a86650f500003489e8d351ea00000d069a12626a699a6a686d434d1f92f95eab271cd4297f6cee8cf1de300a530db7bce7792d284e21488c5209aa7e43921164c6564ce9a320160d9e5eea2004cb6eb5b71cba5cc8e8a491f11b9924081d08f2d1d2df2b038066d7ed1674124a740e3ad60fc050836430269d544e5ad388616ef9ed079e7b2b362cb650f800a14291888ac9f975d0101eb9f890a1855a624fb39a0c2332791983636449c46cb3240b794a4403cde2d48426da238463405600e2e399297e2ee48a70a120d73fe9da0"
)
