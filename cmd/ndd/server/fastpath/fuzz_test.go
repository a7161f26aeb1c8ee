package fastpath

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"reflect"
	"slices"
	"testing"
)

// FuzzLook gives whatever bytes to the parser: what it says is plain, net/http reads as the same request, to its last byte; and
// what is not is as it was for net/http to read.
func FuzzLook(f *testing.F) {
	for _, r := range slices.Concat(plainRequests, endingRequests, oddRequests) {
		f.Add([]byte(r))
	}
	l := New(nil, &http.Server{}, []string{"/echo", "/say"})
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &conn{of: l, context: context.Background()}
		for range 2 { // the second time, the head is known
			c.filled = copy(c.buffer[:], data)
			said := c.look()
			if !bytes.Equal(c.buffer[:c.filled], data[:c.filled]) {
				t.Fatal("bytes have changed")
			}
			if said != plain {
				return
			}
			agree(t, data, c.request)
		}
	})
}

// agree holds that net/http reads the same request.
func agree(t *testing.T, data []byte, got *http.Request) {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(data))
	want, err := http.ReadRequest(in)
	if err != nil {
		t.Fatalf("%q: net/http says %v", data, err)
	}
	body, err := io.ReadAll(want.Body)
	mine, mineErr := io.ReadAll(got.Body)
	if !bytes.Equal(body, mine) || err != nil || mineErr != nil {
		t.Fatalf("%q: body %q %v, net/http %q %v", data, mine, mineErr, body, err)
	}
	if rest, _ := io.ReadAll(in); len(rest) > 0 {
		t.Fatalf("%q: net/http leaves %q", data, rest)
	}
	type said struct {
		Method, URI, Proto, Host, URL string
		Major, Minor                  int
		Header                        http.Header
		Length                        int64
		Close                         bool
		Encoding                      []string
	}
	of := func(r *http.Request) said {
		return said{r.Method, r.RequestURI, r.Proto, r.Host, r.URL.String(), r.ProtoMajor, r.ProtoMinor, r.Header, r.ContentLength, r.Close, r.TransferEncoding}
	}
	if !reflect.DeepEqual(of(got), of(want)) || *got.URL != *want.URL {
		t.Fatalf("%q:\n%+v\nnet/http:\n%+v", data, of(got), of(want))
	}
}
