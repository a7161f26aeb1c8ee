// Package curl stands in for curl where a test types commands that have it: a machine may have Go alone. It knows
//
//	curl -s http://... [-H 'NAME: VALUE']... [-d BODY | --data-binary @FILE | --data-binary @-]
//
// and refuses all else.
package curl

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// Main does what the program's arguments ask of curl, and ends it with status 1 where that fails.
func Main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "curl:", err)
		os.Exit(1)
	}
}

// run writes the answer to a request to standard output.
func run(args []string) error {
	var target string
	var body io.Reader
	header := http.Header{"Accept": {"*/*"}, "User-Agent": {"curl/8"}}
	for len(args) > 0 {
		flag, value := args[0], ""
		if args = args[1:]; flag == "-H" || flag == "-d" || flag == "--data-binary" {
			if len(args) == 0 || args[0] == "" {
				return fmt.Errorf("%s needs a value", flag)
			}
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
		case flag == "--data-binary" && value[:1] == "@":
			file, err := os.Open(value[1:])
			if err != nil {
				return err
			}
			defer file.Close()
			body = file
		case target == "" && strings.HasPrefix(flag, "http://"):
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
