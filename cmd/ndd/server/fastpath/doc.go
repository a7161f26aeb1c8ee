// Package fastpath answers small, plain requests on the connection itself, and leaves every other to net/http.
//
//	             whole, plain, one of a few targets: the server's handler, one write, and the next request
//	accept ────► read
//	             anything else: net/http has the connection, and the bytes that were read, for good
//
// A request is plain when this package understands all of it: `POST` of a listed target without a query, HTTP/1.1, headers of a
// short list, each once and on one line, a Content-Length, a body of at most 4 KiB, and nothing behind it. All that is odd,
// old, large, slow, split for longer than a moment or simply not on the list is net/http's, which sees each byte of it: nothing
// is skipped, mended or guessed here, so the two cannot disagree on where a request ends (which is what smuggling needs).
//
// # What is the same
//
// Handlers get a [http.Request] with the same fields as net/http's, a [http.ResponseWriter] that writes the same bytes (the same
// headers in the same order, and chunks where net/http has chunks), and the [http.Server]'s time limits, connection context and error log.
// A [http.ResponseController] sets deadlines. A panic ends the connection.
//
// # What is not
//
// The context of a request does not end when its client goes away: listed targets are answered within moments, or have a time limit
// of their own. Handlers of listed targets hijack no connection, and send no trailers and no informational answers (1xx). The request, its
// header and its body belong to the handler until it returns; the next request of the connection may have them again.
//
// # Why
//
// Of net/http's 12 us for a small request on the machine of bench/record half is the kernel's. The other half is a goroutine that watches for the
// client's end, a context, a request, its URL, its headers and both their maps, deadlines, and a dozen allocations. A connection's requests have
// mostly the same headers, byte for byte: they are parsed once (conn.go), and of the rest only the body's and the answer's bytes are copied.
// A whole HTTP server of others (fasthttp) has requests of its own type, so all handlers would be made for it or be fed by an
// adapter, and it reads what is odd in its own way; the few lines of parse.go have nothing to read in any way.
//
// # Cost
//
// A connection holds 6 KiB for a request and one goroutine. All is safe for concurrent use.
package fastpath
