package fastpath

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
)

// What a plain request may have.
const (
	requestMax = 6 << 10 // bytes in all
	bodyMax    = 4 << 10
)

// names are the headers that a plain request may have, as net/http writes them. None of them says how a request is read, but Content-Length
// and Connection, of which one value is plain.
var names = []string{"Host", "Content-Length", "Content-Type", "Authorization", "User-Agent", "Accept", "Accept-Encoding", "Accept-Language", "Connection"}

// headEnd is behind the last header.
var headEnd = []byte("\r\n\r\n")

// parseHead parses a request up to its body: a line, headers, and the empty line behind them. It returns nil unless all of it is
// plain. Targets are paths by request line.
func parseHead(head []byte, targets map[string]string) *http.Request {
	line, rest, _ := bytes.Cut(head, headEnd[:2])
	path, ok := targets[string(line)]
	if !ok {
		return nil
	}
	r := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: path}, RequestURI: path, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header, len(names))}
	for len(rest) > len(headEnd[:2]) {
		line, rest, _ = bytes.Cut(rest, headEnd[:2])
		name, value := parseHeader(string(line))
		if name == "" || r.Header[name] != nil || !take(r, name, value) {
			return nil
		}
		r.Header[name] = []string{value}
	}
	delete(r.Header, "Host") // as net/http has it
	if r.Host == "" || r.ContentLength == 0 {
		return nil
	}
	return r
}

// take takes the headers that say more than their value, and says whether they are plain.
func take(r *http.Request, name, value string) bool {
	switch name {
	case "Host":
		r.Host = value
		return isHost(value)
	case "Connection":
		return strings.EqualFold(value, "keep-alive")
	case "Content-Length":
		n, ok := length(value)
		r.ContentLength = int64(n)
		return ok && n > 0 && n <= bodyMax
	}
	return true
}

// isHost says whether a Host header is a name or an address, and perhaps a port.
func isHost(host string) bool {
	return !strings.ContainsFunc(host, func(c rune) bool {
		return (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && !strings.ContainsRune(".-:[]", c)
	})
}

// length returns the number that decimal digits say, of which the first is no 0.
func length(digits string) (n int, ok bool) {
	if len(digits) > 4 || digits[0] == '0' {
		return 0, false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
		n = 10*n + int(digits[i]-'0')
	}
	return n, true
}

// parseHeader returns the name of a header that is on the list, and its value; "" where the line is not plain.
func parseHeader(line string) (name, value string) {
	name, value, ok := strings.Cut(line, ": ")
	if !ok || value == "" || value[0] == ' ' || value[len(value)-1] == ' ' {
		return "", ""
	}
	for i := range len(line) {
		if line[i] < ' ' || line[i] > '~' {
			return "", ""
		}
	}
	for _, known := range names {
		if strings.EqualFold(name, known) {
			return known, value
		}
	}
	return "", ""
}
