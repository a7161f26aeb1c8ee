// Command bare is an HTTP server that answers every request with a constant. It shows the cost of net/http alone, for
// comparison with ndd serve. It prints its address, and runs until it is killed.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
)

// answer is as long as the answer of ndd to a query with one hit.
const answer = `{"fingerprint":"0123456789abcdef","k":3,"documents":1,"truncated":false,` +
	`"hits":[{"fingerprint":"0123456789abcdef","distance":0,"documents":1,"ids":["12345678"]}]}` + "\n"

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("ready: http://%s -\n", l.Addr())
	log.Fatal(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer)
	})))
}
