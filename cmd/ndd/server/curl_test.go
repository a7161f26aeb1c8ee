package server

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine/oracle"
)

// TestMain is curl where this program is called so.
func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") != "curl" {
		oracle.NoLeaks(m)
		return
	}
	if err := curlMain(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "curl:", err)
		os.Exit(1)
	}
}

// curlMain does what `curl -s URL [-H HEADER] [-d BODY | --data-binary @-]` does, which is all that testdata/curl.txt has: a machine
// may have Go and no curl.
func curlMain(args []string) error {
	var target string
	var body io.Reader
	header := http.Header{"Accept": {"*/*"}, "User-Agent": {"curl/8"}}
	for len(args) > 0 {
		flag, value := args[0], ""
		if args = args[1:]; flag == "-H" || flag == "-d" || flag == "--data-binary" {
			value, args = args[0], args[1:]
		}
		switch {
		case flag == "-s":
		case flag == "-H":
			name, is, _ := strings.Cut(value, ": ")
			header.Set(name, is)
		case flag == "-d":
			body = strings.NewReader(value)
		case flag == "--data-binary" && value == "@-":
			body = os.Stdin
		case target == "" && flag[0] != '-':
			target = flag
		default:
			return fmt.Errorf("%q is not known here", flag)
		}
	}
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
		whole, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		body = strings.NewReader(string(whole)) // for a Content-Length
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
	}
	r, err := http.NewRequest(method, target, body)
	if err != nil {
		return err
	}
	r.Header = header
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(os.Stdout, answer.Body)
	return err
}

// curls returns folders of a program called curl, by what it is: this one and, where there is one, curl itself.
func curls(t *testing.T) map[string]string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own := t.TempDir()
	if err := os.Symlink(self, filepath.Join(own, "curl")); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{"own": own}
	if path, err := exec.LookPath("curl"); err == nil {
		found["curl"] = filepath.Dir(path)
	}
	return found
}
