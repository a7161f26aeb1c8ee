package mapreduce_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"ndd/engine/corpus/simhash"
	"ndd/engine/mapreduce"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

// TestRemoteFormats: each file of HDFS has the format of its own name, whatever came before it, as files on disk have.
func TestRemoteFormats(t *testing.T) {
	const text = "Rivers carry stones from the mountains to the plain, and the further they carry them the smaller they become"
	files := map[string]string{"a.jsonl": `{"id":"1","text":"` + text + `"}` + "\n", "b.csv": "id,text\n2,\"" + text + "\"\n", "c.txt": text, "d.ndjson": `{"id":"4","text":"` + text + `"}`}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content := files[path.Base(r.URL.Path)]
		if r.URL.Query().Get("op") == "GETFILESTATUS" {
			fmt.Fprintf(w, `{"FileStatus":{"length":%d}}`, len(content))
			return
		}
		io.WriteString(w, content)
	}))
	defer server.Close()
	in := "hdfs://n/a.jsonl\nhdfs://n/b.csv\nhdfs://n/c.txt\nhdfs://n/d.ndjson\n"
	got, err := step(t, mapOf(mapreduce.Fingerprint{Recipe: simhash.Default()}), strings.NewReader(in), func(o *mapreduce.Options) {
		o.Form, o.WebHDFS = mapreduce.Paths, server.URL
	})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for line := range strings.Lines(got) {
		if key, value, _ := strings.Cut(line, "\t"); key != "~end" {
			id, _, _ := strings.Cut(value, " ")
			ids = append(ids, id)
		}
	}
	if want := []string{"1", "2", "hdfs://n/c.txt", "4"}; !slices.Equal(ids, want) {
		t.Errorf("%q, want %q", ids, want)
	}
}

// TestWebHDFS: chunks come whole from WebHDFS, through its redirections, or not at all.
func TestWebHDFS(t *testing.T) {
	raw := store.Bytes64(sets.Uniform(1000, 3))
	var lie int
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	mux.HandleFunc("/webhdfs/v1/f/chunk.bin", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("user.name") != "me" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		if r.URL.Query().Get("op") == "GETFILESTATUS" {
			fmt.Fprintf(w, `{"FileStatus":{"length":%d,"type":"FILE"}}`, len(raw)+lie)
			return
		}
		http.Redirect(w, r, "/data", http.StatusTemporaryRedirect)
	})
	served := func(name string, data []byte) {
		mux.HandleFunc(name, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("op") == "GETFILESTATUS" {
				fmt.Fprintf(w, `{"FileStatus":{"length":%d}}`, len(data))
				return
			}
			w.Write(data)
		})
	}
	var text strings.Builder
	for _, f := range store.Uint64s(raw) {
		fmt.Fprintf(&text, "%016x\n", f)
	}
	served("/webhdfs/v1/f/text", []byte(text.String()))
	served("/webhdfs/v1/f/array.ndf", raw)
	mux.HandleFunc("/webhdfs/v1/f/mute.bin", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") })
	mux.HandleFunc("/data", func(w http.ResponseWriter, _ *http.Request) {
		w.Write(raw[:400])
		w.(http.Flusher).Flush()
		w.Write(raw[400:])
	})
	read := func(path, user string) (string, error) {
		return step(t, mapOf(mapreduce.Pairs{K: 3}), strings.NewReader(path+"\n"), func(o *mapreduce.Options) {
			o.Form, o.WebHDFS, o.HDFSUser = mapreduce.Paths, server.URL, user
		})
	}
	want, err := step(t, mapOf(mapreduce.Pairs{K: 3}), strings.NewReader(base64.StdEncoding.EncodeToString(raw)), func(o *mapreduce.Options) { o.Form = mapreduce.Base64 })
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"hdfs://namenode:8020/f/chunk.bin", "webhdfs://" + strings.TrimPrefix(server.URL, "http://") + "/f/chunk.bin"} {
		if got, err := read(path, "me"); err != nil || got != want {
			t.Fatalf("%s: %v, or other fingerprints", path, err)
		}
	}
	whole, err := read("hdfs://namenode/f/text", "me") // which is no array, and read whole
	if err != nil || whole != want {
		t.Fatalf("text: %v, or other fingerprints", err)
	}
	_, err = read("hdfs://namenode/f/array.ndf", "me")
	wantError(t, err, store.ErrCorrupt, "array.ndf")
	_, err = read("hdfs://namenode/f/chunk.bin", "you")
	wantError(t, err, nil, "401")
	_, err = read("hdfs://namenode/f/none.bin", "me")
	wantError(t, err, nil, "none.bin: WebHDFS answers 404")
	lie = 8
	_, err = read("hdfs://namenode/f/chunk.bin", "me")
	wantError(t, err, store.ErrCorrupt, "8 bytes are missing: cut in the middle")
	_, err = read("hdfs://namenode/f/mute.bin", "me")
	wantError(t, err, nil, "does not tell its length: its answer has no FileStatus.length")
	lie = -8
	_, err = read("hdfs://namenode/f/chunk.bin", "me")
	wantError(t, err, store.ErrCorrupt, "more bytes come than it has")
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}
