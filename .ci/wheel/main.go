// Command wheel writes a Python wheel that holds the program ndd for one platform and the
// package cmd/ndd/python. The same inputs give the same bytes.
//
//	go run ./.ci/wheel OUT VERSION PROGRAM TAG...     in the root of the repository
//
// Tags are those of PEP 425 for platforms, such as manylinux2014_x86_64: a static program fits several.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const metadata = `Metadata-Version: 2.1
Name: ndd
Version: %s
Summary: Finds and removes near-duplicate documents, exactly
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: arrow
Requires-Dist: pyarrow; extra == 'arrow'
Requires-Dist: numpy; extra == 'arrow'
Description-Content-Type: text/markdown

%s`

func main() {
	log.SetFlags(0)
	if len(os.Args) < 5 {
		log.Fatal("usage: wheel OUT VERSION PROGRAM TAG...")
	}
	if err := write(os.Args[1], pythonVersion(os.Args[2]), os.Args[3], os.Args[4:]); err != nil {
		log.Fatal("wheel: ", err)
	}
}

// pythonVersion returns a version as PEP 440 has it: 1.2.3-ci is the local version 1.2.3.dev0+ci.
func pythonVersion(v string) string {
	release, rest, pre := strings.Cut(v, "-")
	if !pre {
		return release
	}
	return release + ".dev0+" + strings.NewReplacer("-", ".", "~", ".").Replace(rest)
}

// write makes the wheel of a program for the platforms of tags in the folder out.
func write(out, version, program string, tags []string) error {
	const source = "cmd/ndd/python"
	slices.Sort(tags)
	name := "ndd-" + version
	files := map[string][]byte{}
	read := func(as, path string) (err error) {
		files[as], err = os.ReadFile(path)
		return err
	}
	sources, err := filepath.Glob(source + "/ndd/*")
	if err != nil {
		return err
	}
	for _, path := range sources {
		if base := filepath.Base(path); strings.HasSuffix(base, ".py") || base == "py.typed" {
			if err := read("ndd/"+base, path); err != nil {
				return err
			}
		}
	}
	script := "ndd"
	if strings.HasPrefix(tags[0], "win") {
		script = "ndd.exe"
	}
	script = name + ".data/scripts/" + script
	info := name + ".dist-info/"
	if err := read(script, program); err != nil {
		return err
	}
	if err := read(info+"licenses/LICENSE", "cmd/ndd/LICENSE"); err != nil {
		return err
	}
	readme, err := os.ReadFile(source + "/README.md")
	if err != nil {
		return err
	}
	files[info+"METADATA"] = fmt.Appendf(nil, metadata, version, readme)
	wheel := []byte("Wheel-Version: 1.0\nGenerator: ndd\nRoot-Is-Purelib: false\n")
	for _, tag := range tags {
		wheel = fmt.Appendf(wheel, "Tag: py3-none-%s\n", tag)
	}
	files[info+"WHEEL"] = wheel

	at := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	if s, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		at = time.Unix(s, 0).UTC()
	}
	var archive, record bytes.Buffer
	z := zip.NewWriter(&archive)
	add := func(path string, data []byte) error {
		h := &zip.FileHeader{Name: path, Method: zip.Deflate, Modified: at}
		h.SetMode(0o644)
		if path == script {
			h.SetMode(0o755)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[path])
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", path, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[path]))
		if err := add(path, files[path]); err != nil {
			return err
		}
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	if err := add(info+"RECORD", record.Bytes()); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, fmt.Sprintf("%s-py3-none-%s.whl", name, strings.Join(tags, "."))),
		archive.Bytes(), 0o644)
}
