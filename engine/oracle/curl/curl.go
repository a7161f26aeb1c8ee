// Package curl stands in for curl in tests that type commands with it: a machine may have Go alone.
// It knows
//
//	curl -s http://... [-H 'NAME: VALUE']... [-d BODY | --data-binary @FILE | --data-binary @-]
//
// and refuses all else.
package curl

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// Main does what the program's arguments ask of curl, and ends it with status 1 where that fails.
func Main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "curl:", err)
		os.Exit(1)
	}
}

// run writes the answer to a request to standard output.
func run(args []string) (err error) {
	f := pflag.NewFlagSet("curl", pflag.ContinueOnError)
	f.BoolP("silent", "s", false, "")
	headers := f.StringArrayP("header", "H", nil, "")
	data := f.StringP("data", "d", "", "")
	file := f.String("data-binary", "", "")
	if err := f.Parse(args); err != nil {
		return err
	}
	method, body := http.MethodGet, []byte(*data)
	if f.Changed("data") || f.Changed("data-binary") {
		method = http.MethodPost
	}
	if name, ok := strings.CutPrefix(*file, "@"); name == "-" {
		body, err = io.ReadAll(os.Stdin)
	} else if ok {
		body, err = os.ReadFile(name)
	}
	if err != nil {
		return err
	}
	if f.NArg() != 1 || !strings.HasPrefix(f.Arg(0), "http://") {
		return fmt.Errorf("%q: one address of http is known here", f.Args())
	}
	r, err := http.NewRequest(method, f.Arg(0), bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = http.Header{"Accept": {"*/*"}, "User-Agent": {"curl/8"}}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range *headers {
		name, is, _ := strings.Cut(h, ": ")
		r.Header.Set(name, is)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(os.Stdout, answer.Body)
	return err
}
