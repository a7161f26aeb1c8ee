// Package server answers near-duplicate queries over HTTP, for `ndd serve`.
//
// # Endpoints
//
// On the main listener (127.0.0.1:7744). Requests and answers are JSON unless
// said otherwise; /openapi.json describes them all.
//
//	POST /v1/query             read   what is within k bits of a fingerprint or a document?
//	POST /v1/batch             read   the same for up to 65,536 fingerprints, raw in, lines out
//	POST /v1/compare           read   how far two fingerprints or documents are from each other, and what texts share
//	POST /v1/insert            write  add a document, or those of a list
//	POST /v1/check-and-insert  write  add a document, or each of a list, unless a near-duplicate is there; atomic
//	POST /v1/delete            write  delete documents by id or by fingerprint
//	POST /v1/copies            read   what has text in common with a document, beyond near-duplicates? (with --copies)
//	POST /v1/backup            admin  make a backup of the index in the folder of --backup-dir, with which it is served
//	GET  /v1/stats             read   sizes of the index, and limits
//	GET  /v1/activity          read   requests and their times in the last minutes
//	GET  /v1/distribution      read   how the stored fingerprints are distributed
//	GET  /openapi.json         -      this interface, from the Go types
//	GET  /livez                -      200 while the process runs
//	GET  /readyz               -      200 while queries are answered, 503 while loading, draining or damaged
//
// A document is one of three fields: "fingerprint" (16 hexadecimal digits),
// "text" (plain), "html" (a page; its markup is taken off as `ndd fingerprint`
// does). Texts get their fingerprints by the index's own recipe.
//
//	> POST /v1/query {"text": "the text of a page ...", "k": 3}
//	< 200 {"fingerprint":"8c7f2d1e0a9b4455","k":3,"documents":2,"truncated":false,"hits":[
//	        {"fingerprint":"8c7f2d1e0a9b4455","distance":0,"documents":1,"ids":["https://a.example/"]},
//	        {"fingerprint":"8c7f2d1e0a9b4457","distance":1,"documents":1,"ids":["https://b.example/"]}]}
//
//	> POST /v1/query?k=3   Content-Type: text/html (or text/plain), the document itself as the body
//	< as above
//
//	> POST /v1/insert {"id": "https://c.example/", "text": "..."}
//	< 200 {"inserted":true,"id":"https://c.example/","number":17,"fingerprint":"..."}
//	> POST /v1/insert {"documents": [{"id": ...}, ...]}
//	< 200 {"results":[{"status":200,"inserted":true,...}, {"status":422,"inserted":false,"error":"body.documents[1].text: document too short ..."}]}
//
// A list is answered with one result for each document, in order. One that cannot be stored, such as a short
// text, has the status and the reason that it would have alone, and the others are stored all the same: of an
// insert together, as one change, of a check-and-insert one after the other. A list that is not as
// /openapi.json has it is refused whole.
//
//	> POST /v1/check-and-insert {"id": "https://d.example/", "html": "<p>...", "k": 3}
//	< 200 {"inserted":false,"fingerprint":"...","documents":1,"hits":[...]}
//	> POST /v1/check-and-insert {"documents": [{"id": ...}, ...], "k": 3}
//	< 200 {"results":[{"status":200,"inserted":true,...}, {"status":200,"inserted":false,...,"hits":[...]}, ...]}
//
//	> POST /v1/check-and-insert?id=https://e.example/&k=3   Content-Type: text/html (or text/plain), the document itself as the body
//	< 200 {"inserted":true,"id":"https://e.example/",...}
//
// Both take ?on_conflict=replace|keep|error, which says what becomes of a document whose id is taken, and ?ttl=90d
// (d, h, m, s, or forever), which says how long the document is kept.
//
// Wherever a document can stand alone it may be the body, in the charset that its type names. Its id is then the parameter id, or the header
// Document-Id (printable ASCII without spaces).
//
//	> POST /v1/delete {"id": "https://c.example/"}        or {"ids": [...]}, or {"fingerprint": "..."}
//	< 200 {"deleted":1}
//
//	> POST /v1/backup {"name": "monday"}                 a name, never a path
//	< 200 {"name":"monday","files":5,"linked_bytes":...,"copied_bytes":...,"log_records":...,"seconds":0.02}
//
//	> POST /v1/batch?k=3&unique=false   Content-Type: application/octet-stream, little-endian uint64s
//	< 200 text/tab-separated-values: query row, fingerprint, distance, id
//	  or, with Accept: application/x-ndjson, {"query":0,"fingerprint":"...","distance":1,"id":"..."}
//	  or, with Accept: application/octet-stream, rows of 32 bytes, each four little-endian uint64s:
//
//	      byte  0        8            16        24                  32
//	            query    fingerprint  distance  number of the document
//
//	> POST /v1/compare {"a": {"text": "..."}, "b": {"html": "<p>..."}}
//	< 200 {"near":true,"k":3,"distance":1,"bits":[63],"a":"...","b":"...","texts":{"jaccard":0.97,"a_in_b":...,"only_a":[...],...}}
//
// With --show-files b_id is the id of a document that was loaded from a file of its own, instead of b: no path from a request
// reaches the file system, the id is looked up among those that were loaded.
//
// What goes wrong is application/problem+json (RFC 9457), with the place:
//
//	< 422 {"title":"Unprocessable Entity","status":422,
//	       "detail":"body.texd: unexpected property: there are fingerprint, html, k, limit, text",
//	       "errors":[{"message":"unexpected property: there are fingerprint, html, k, limit, text","location":"body.texd"}]}
//
//	400  not JSON, not HTTP, body cut off      429  more than it can do: Retry-After
//	401  no token, or an unknown one           500  a bug: it is logged and harms this request only
//	403  role too low; a foreign web page      503  loading, draining, or the index is damaged
//	404  405  no such place, no such method    507  the disk is full: Retry-After; queries are answered
//	408  413  415  too slow, large, strange
//	409  the id is taken (on_conflict error)
//	421  a Host that is not this machine
//	422  understood, but makes no sense: fields, k beyond the index's, too few features
//
// The admin listener (127.0.0.1:7745) has /metrics (Prometheus) and, if asked
// for, /debug/pprof/.
//
// # A request's way
//
//	accept (4,096 connections; headers 5 s, read 30 s, write 60 s, idle 120 s)
//	  └─ small and plain: answered on the connection; everything else: net/http (fastpath)
//	  └─ observe   count, time, log; recover from a panic
//	      └─ Host, Origin   no DNS rebinding, no foreign web page (access/origin.go)
//	          └─ route
//	              └─ token and role (access/keyring.go)
//	                  └─ ready? gate full? 429 before the body is kept (phase.go, body.go)
//	                      └─ body into memory, at most 8 MiB, 512 MiB of all bodies and answers (body.go)
//	                          └─ gate: some run, some wait a little, the rest gets 429 (admit/gate.go)
//	                              └─ handler ── engine
//
// A slow sender waits before the gate and takes no place in it. Queries,
// batches and inserts have gates of their own, so that none starves another.
//
// # Life
//
//	        listens at once           index loaded            signal               drained, at most 8 s
//	start ───────────────► loading ───────────────► ready ───────────► draining ─────────────────► exit 0
//	                       readyz 503               readyz 200         readyz 503
//	                       /v1 503                  one line on        /v1 503, Connection: close;
//	                                                standard output    what runs is finished
//
// A second signal ends the process at once. SIGHUP reads tokens and certificates again, and opens the access log and the index of
// copies again (reload.go).
//
// # Cost
//
// Of a query, the engine takes some microseconds for each table, and the kernel some for the connection. Requests that are small and plain are read and
// answered on the connection itself (package fastpath), by the same handlers as all others, which are net/http's. Bodies that are as most are, are decoded in one pass (decode.go) and
// answered by appending (encode.go). What is unusual or wrong goes through huma, which parses a body twice, to validate it and to
// fill in a type, and says what is wrong. The batch endpoint pays all that once for up to 65,536 queries. bench serve measures it.
//
// # Concurrency
//
// [Run] owns everything it starts and returns when all of it has ended. All
// handlers run in parallel; the engine's readers never wait.
package server
