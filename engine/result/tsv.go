package result

import (
	"fmt"
	"strconv"
	"strings"

	"ndd/engine/corpus/simhash"
)

func appendTSV(dst []byte, r *Row, query string, named bool) []byte {
	if named {
		dst = AppendEscaped(dst, query)
	} else {
		dst = strconv.AppendInt(dst, int64(r.Query), 10)
	}
	dst = append(dst, '\t')
	dst = appendHex(dst, r.Fingerprint)
	dst = append(dst, '\t')
	dst = strconv.AppendInt(dst, int64(r.Distance), 10)
	dst = append(dst, '\t')
	dst = AppendEscaped(dst, r.ID)
	return append(dst, '\n')
}

// appendHex appends what [simhash.Fingerprint.String] returns.
func appendHex(dst []byte, f simhash.Fingerprint) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, digits[f>>shift&15])
	}
	return dst
}

// parseTSV parses a line without its end. The query's column is returned as it was before it was
// escaped.
func parseTSV(line string) (query string, r Row, err error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 4 {
		return "", r, fmt.Errorf("%d tab-separated fields where 4 were expected", len(fields))
	}
	if query, err = Unescape(fields[0]); err != nil {
		return "", r, fmt.Errorf("query: %w", err)
	}
	if r.Fingerprint, err = simhash.Parse(fields[1]); err != nil {
		return "", r, err
	}
	distance, err := strconv.ParseUint(fields[2], 10, 64)
	if err != nil {
		return "", r, fmt.Errorf("distance %.32q is no number", fields[2])
	}
	if r.Distance, err = checkDistance(distance); err != nil {
		return "", r, err
	}
	if r.ID, err = Unescape(fields[3]); err != nil {
		return "", r, fmt.Errorf("ID: %w", err)
	}
	return query, r, nil
}

// escaped are the characters that would break a line of tab-separated fields.
const escaped = "\t\n\r\\"

var escapes = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`, `\`, `\\`)

// Escape returns s with tabs, line ends and backslashes written as \t, \n, \r and \\, so that it
// can be a field of a tab-separated line. It returns s itself, without allocation, where it has
// none of them.
func Escape(s string) string {
	if !strings.ContainsAny(s, escaped) {
		return s
	}
	return escapes.Replace(s)
}

// AppendEscaped appends what [Escape] returns of s to dst and returns the extended slice.
func AppendEscaped[S string | []byte](dst []byte, s S) []byte {
	for i := range len(s) {
		switch c := s[i]; c {
		case '\t':
			dst = append(dst, `\t`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\\':
			dst = append(dst, `\\`...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// Unescape returns the string of which [Escape] returned s. Anything that Escape does not
// return is an error.
func Unescape(s string) (string, error) {
	if !strings.ContainsAny(s, escaped) {
		return s, nil
	}
	plain := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\t' || c == '\n' || c == '\r':
			return "", fmt.Errorf("byte %d: %q is not escaped", i, c)
		case c != '\\':
			plain = append(plain, c)
		default:
			i++
			at := -1
			if i < len(s) {
				at = strings.IndexByte(`tnr\`, s[i])
			}
			if at < 0 {
				return "", fmt.Errorf(`byte %d: a backslash without t, n, r or \ behind it`, i-1)
			}
			plain = append(plain, escaped[at])
		}
	}
	return string(plain), nil
}
