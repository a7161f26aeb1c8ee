package fastpath

import (
	"net/http"
	"sync/atomic"
	"time"
)

// A stamp is a header Date, of one second.
type stamp struct {
	second int64 // since 1970
	line   []byte
}

// newest is the last one that was needed.
var newest atomic.Pointer[stamp]

// appendDate appends a header Date of now.
func appendDate(out []byte) []byte {
	now := time.Now()
	s := newest.Load()
	if s == nil || s.second != now.Unix() {
		s = &stamp{now.Unix(), now.UTC().AppendFormat([]byte("Date: "), http.TimeFormat+"\r\n")}
		newest.Store(s)
	}
	return append(out, s.line...)
}
