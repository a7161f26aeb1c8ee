// Package admit decides which requests run, and which are refused so that the others are answered in time.
//
//	request ──► Transfers: memory for its body and its answer ──► Gate: a slot, by the work it makes ──► handler
//	             │ no memory, and nobody stalls: Refused            │ the queue is longer than is waited: Refused
//	             └ no memory: who has stalled longest is cut off
//
// A [Gate] bounds what runs, and the queue before it by the time that its work will take. [Transfers] bounds the
// memory of bodies and answers: who sends or reads slowly costs only that, and is cut off
// when others need it. Both are safe for concurrent use; an operation costs a mutex, some 100 ns.
package admit
