// Package server answers near-duplicate queries over HTTP, for `ndd serve`. Requests and answers
// are JSON unless said otherwise; openapi.json, served as /openapi.json and shown at /docs,
// describes all of them, with examples.
//
//	POST /v1/query             read   the documents within k bits of a fingerprint or a document
//	POST /v1/batch             read   the same for up to 65,536 fingerprints, raw in, lines out
//	POST /v1/insert            write  add a document or a list of documents
//	POST /v1/check-and-insert  write  add a document, or each of a list, unless a near-duplicate is stored; atomic
//	POST /v1/delete            write  delete documents by id or by fingerprint
//	GET  /v1/documents/ID      read   whether a document is stored, and its number
//	GET  /v1/documents         read   the ids of documents, by prefix, page by page
//	DELETE /v1/documents       admin  delete the documents whose ids begin with a prefix
//	POST /v1/backup            admin  make a backup of the index in the folder of --backup-dir
//	GET  /v1/stats             read   sizes of the index, and limits
//	GET  /livez, /readyz       -      200 while the process runs; 200 while queries are answered
//
// A document is a fingerprint, a text or an HTML page, or the whole body as text/plain or text/html. The answer to a
// list has one result for each document, in order. An invalid document does not affect the others: its result has the
// same status and reason as in a request of its own. Bodies may be compressed (Content-Encoding: gzip or zstd). JSON
// is read strictly (package strict). Errors are application/problem+json (RFC 9457) and name the field. The admin
// listener has /metrics and /debug/pprof/.
//
// # The way of a request
//
// Middleware with one concern each makes a [call] of a request. A handler takes the call, and returns a [reply] or a
// [problem].
//
//	accept (4,096 connections; headers 5 s, read 30 s, write 60 s, idle 120 s)      connections.go
//	  └─ observe: count, time, log; recover from a panic                             observe.go
//	      └─ Host, Origin: no DNS rebinding, no foreign web page                     identity.go, access
//	          └─ route: http.ServeMux                                                service.go
//	              └─ token and role                                                  identity.go, access
//	                  └─ ready?                                                      condition.go
//	                      └─ arguments; body into memory, decompressed, bounded      arguments.go, body.go
//	                          └─ gate: some run, some wait a little, the rest get 429 admission.go, admit
//	                              └─ decode JSON, or the text of a document          call.go
//	                                  └─ handler: query, batch, insert, documents, admin ─ engine
//
// A slow sender waits before the gate, and takes no place in it. Queries, batches and inserts have separate gates, so
// none of them delays another. Handlers run in parallel; readers of the engine never wait.
//
// # Life
//
//	        listens at once           index loaded            signal               drained, at most 8 s
//	start ───────────────► loading ───────────────► ready ───────────► draining ─────────────────► exit 0
//	                       readyz 503               readyz 200         readyz 503, Connection: close
//
// A second signal ends the process at once. SIGHUP reads tokens and certificates again. [Run] returns after everything
// that it started has ended.
package server
