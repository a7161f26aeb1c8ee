package mapreduce

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ndd/engine/storage/store"
)

// isRemote reports whether a path is one of HDFS.
func isRemote(name string) bool {
	return strings.HasPrefix(name, "hdfs://") || strings.HasPrefix(name, "webhdfs://")
}

// webClient gives up where a server does not answer; bodies may take as long as they do.
var webClient = &http.Client{Transport: &http.Transport{
	DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
	ResponseHeaderTimeout: 2 * time.Minute,
}}

// ErrNoWebHDFS is what errors wrap of a path of HDFS where [Options] name no WebHDFS.
var ErrNoWebHDFS = errors.New("the address of WebHDFS is not known")

// webURL returns the address of an operation on a file:
//
//	hdfs://namenode:8020/f.bin      ->  the service of the options, path /f.bin
//	webhdfs://namenode:9870/f.bin   ->  http://namenode:9870, path /f.bin
func (t *task) webURL(name, operation string) (string, error) {
	u, err := url.Parse(name)
	if err != nil {
		return "", err
	}
	base := t.WebHDFS
	if u.Scheme == "webhdfs" {
		base = "http://" + u.Host
	}
	if base == "" {
		return "", fmt.Errorf("%s: %w", name, ErrNoWebHDFS)
	}
	query := url.Values{"op": {operation}}
	if t.HDFSUser != "" {
		query.Set("user.name", t.HDFSUser)
	}
	return strings.TrimSuffix(base, "/") + "/webhdfs/v1" + u.EscapedPath() + "?" + query.Encode(), nil
}

// get returns the answer of an operation on a file.
func (t *task) get(ctx context.Context, name, operation string) (*http.Response, error) {
	address, err := t.webURL(name, operation)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := webClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer answer.Body.Close()
	why, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	return nil, fmt.Errorf("%s: WebHDFS answers %s: %.300s", name, answer.Status, why)
}

// openRemote opens a file of HDFS. It asks for its length first: a stream that ends early does not always say so.
func (t *task) openRemote(ctx context.Context, name string) (body io.ReadCloser, length uint64, err error) {
	answer, err := t.get(ctx, name, "GETFILESTATUS")
	if err != nil {
		return nil, 0, err
	}
	var status struct {
		FileStatus struct {
			Length *uint64 `json:"length"`
		}
	}
	err = json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&status)
	answer.Body.Close()
	if err == nil && status.FileStatus.Length == nil {
		err = errors.New("its answer has no FileStatus.length")
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s: WebHDFS does not tell its length: %w", name, err)
	}
	if answer, err = t.get(ctx, name, "OPEN"); err != nil {
		return nil, 0, err
	}
	return &exactly{answer.Body, name, *status.FileStatus.Length}, *status.FileStatus.Length, nil
}

// exactly is a body that must have so many bytes.
type exactly struct {
	io.ReadCloser
	name string
	left uint64
}

func (e *exactly) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if uint64(n) > e.left {
		return n, fmt.Errorf("%w: %s: more bytes come than it has", store.ErrCorrupt, e.name)
	}
	if e.left -= uint64(n); err == io.EOF && e.left > 0 {
		return n, fmt.Errorf("%w: %s: %d bytes are missing: cut in the middle", store.ErrCorrupt, e.name, e.left)
	}
	return n, err
}
