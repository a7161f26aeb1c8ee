package input

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// fakeHadoop puts a command hdfs on PATH that prints a listing, and reads files below a folder.
func fakeHadoop(t *testing.T, listing string, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "listing"), []byte(listing), 0o600))
	script := `#!/bin/sh
test "$1" = dfs || exit 9
case "$2" in
-ls) test "$3" = -R && cat ` + dir + `/listing
	case "$4" in *none*) echo 'log4j: some warning' >&2; echo "ls: '$4': No such file or directory" >&2; exit 1 ;; esac ;;
-cat) case "$3" in *hangs*) exec sleep 60 ;; esac
	cat "` + dir + `/${3##*/}" || { echo "cat: '$3': Input/output error" >&2; exit 1; }
	case "$3" in *torn*) echo "cat: Filesystem closed" >&2; exit 1 ;; esac ;;
esac
`
	must.Do(t, os.WriteFile(filepath.Join(dir, "hdfs"), []byte(script), 0o700))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// TestHDFS lists files with their sizes and reads them. A command that is missing or fails is an error with its message
// and the path, and so is a file that ends too early.
func TestHDFS(t *testing.T) {
	const head = "-rw-r--r--   3 ann domain users         "
	fakeHadoop(t, "Found 6 items\ndrwxr-xr-x   - ann staff          0 2024-05-01 10:00 hdfs://nn:8020/in/sub\n"+
		head+"2 2024-05-01 10:00 hdfs://nn:8020/in/a b.jsonl\n"+head+"3 2024-05-01 10:00 /in/torn\n"+
		head+"9 2024-05-01 10:00 /in/short\n"+head+"1 2024-05-01 10:00 /in/gone\n"+head+"1 2024-05-01 10:00 /in/hangs\n",
		map[string]string{"a b.jsonl": "{}", "torn": "abc", "short": "abc"})
	var got []string
	for f, err := range Files(t.Context(), []string{"hdfs://nn:8020/in"}) {
		must.Do(t, err)
		got = append(got, fmt.Sprintf("%s %s %d", f.Path, f.Root, f.Size()))
		ctx, cancel := context.Context(nil), context.CancelFunc(nil)
		for _, open := range []func() (io.ReadCloser, error){func() (io.ReadCloser, error) { return f.Raw(ctx) },
			func() (io.ReadCloser, error) {
				s, err := f.Open(ctx, nil, &Meter{})
				if err != nil {
					return nil, err
				}
				return s.r, nil
			}} {
			ctx, cancel = context.WithCancel(t.Context())
			in, err := open()
			if strings.HasSuffix(f.Path, "hangs") {
				cancel()
			}
			var text []byte
			if err == nil {
				text, err = io.ReadAll(in)
				if _, again := in.Read(make([]byte, 1)); again != err && (err != nil || again != io.EOF) {
					t.Errorf("%s: read again: %v, first %v", f.Path, again, err)
				}
				must.Do(t, in.Close())
			}
			want := map[string]string{"torn": "hdfs dfs -cat: exit status 1: cat: Filesystem closed", "hangs": "context canceled",
				"short": "unexpected EOF: 3 bytes, and its listing has 9", "gone": "hdfs dfs -cat: exit status 1: cat: 'hdfs://nn:8020/in/gone': Input/output error"}[filepath.Base(f.Path)]
			if (err == nil) != (want == "") || err != nil && err.Error() != want || err == nil && string(text) != "{}" {
				t.Errorf("%s: %q, %v, want %q", f.Path, text, err, want)
			}
			cancel()
		}
	}
	s, err := File{Path: "hdfs://nn:8020/in/a b.jsonl"}.Open(t.Context(), nil, &Meter{})
	must.Do(t, err)
	defer s.Close()
	for range 2 {
		var p [1]byte
		if n, err := s.ReadAt(p[:], 1); n != 1 || err != nil || p[0] != '}' || !s.Seekable {
			t.Errorf("%d, %v, %q", n, err, p)
		}
	}
	want := "hdfs://nn:8020/in/a b.jsonl hdfs://nn:8020/in 2|hdfs://nn:8020/in/torn hdfs://nn:8020/in 3|" +
		"hdfs://nn:8020/in/short hdfs://nn:8020/in 9|hdfs://nn:8020/in/gone hdfs://nn:8020/in 1|hdfs://nn:8020/in/hangs hdfs://nn:8020/in 1"
	if list := strings.Join(got, "|"); list != want {
		t.Errorf("%s, want %s", list, want)
	}
	in, err := File{Path: "hdfs://nn:8020/in/hangs"}.Raw(t.Context()) // closed before it ends
	must.Do(t, err)
	must.Do(t, in.Close())

	listError := func(path string) (err error) {
		for _, err = range Files(t.Context(), []string{path}) {
		}
		return err
	}
	if err := listError("hdfs://nn:8020/none"); err == nil ||
		!strings.HasSuffix(err.Error(), "hdfs://nn:8020/none: hdfs dfs -ls -R: exit status 1: ls: 'hdfs://nn:8020/none': No such file or directory") {
		t.Error(err)
	}
	fakeHadoop(t, "SLF4J: a message in the wrong place\n", nil)
	if err := listError("hdfs://nn/in"); err == nil || !strings.Contains(err.Error(), "hdfs dfs -ls: a line that is no file: \"SLF4J") {
		t.Error(err)
	}
	fakeHadoop(t, "", nil)
	if err := listError("hdfs://nn/in"); err == nil || !strings.Contains(err.Error(), "hdfs://nn/in: no such object") {
		t.Error(err)
	}
	t.Setenv("PATH", t.TempDir())
	for _, err := range []error{listError("hdfs://nn/in"), func() error {
		_, err := File{Path: "hdfs://nn/in"}.Raw(t.Context())
		return err
	}()} {
		if err == nil || err.Error() != "hdfs://nn/in: reading it needs the command hdfs of the Hadoop client, which is not on PATH" {
			t.Error(err)
		}
	}
}
