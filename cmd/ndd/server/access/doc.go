// Package access says who may use the server: bearer tokens and client certificates, their roles, and
// requests that a web browser was talked into.
//
//	request ──► Host, Origin (CheckOrigin) ──► token or certificate ──► role (Keyring.Authorize) ──► what the role may do
//
// Tokens stand in a file with lines "TOKEN ROLE", and names of client certificates as "cn:NAME ROLE". A role
// includes those before it: read, write, admin. Tokens are kept as hashes and compared in constant time.
package access
