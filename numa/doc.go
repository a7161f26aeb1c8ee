// Package numa places memory and work on the memory nodes of a host.
//
// A host with several sockets has several memory nodes. Each node has its own processors and memory. Reading the
// memory of another node takes longer. Data that is read at random, such as a table, should be in the memory of one
// node and be read by its processors:
//
//	          node 0                                node 1
//	+-----------------------------+      +-----------------------------+
//	| cores 0-15   arena: table 0 |      | cores 16-31  arena: table 1 |
//	|   ^ pinned       ^ bound    |<====>|   ^ pinned       ^ bound    |
//	|   +-- crew: workers --------|      |   +-- crew: workers --------|
//	+--------^--------------------+      +--------^--------------------+
//	         |  tasks                             |
//	         +------------- caller, anywhere -----+
//
// The words:
//
//	node       a node of the kernel, numbered in /sys/devices/system/node
//	topology   all nodes of a host, with their processors, memory and distances
//	usable     a node is usable if this process may use its memory; its own processors
//	           work on it, or the nearest ones if it has none
//	arena      memory bound to a node, in huge pages if the kernel has some
//	placement  the nodes of the pages of an arena, reported by the kernel
//	worker     a goroutine with its own thread, which runs only on the processors of a node
//	crew       the workers of a node, which take tasks from one queue
//
// An arena is allocated only if the node has enough free memory. Beyond it, the kernel would kill a process that has
// bound memory to the node.
//
// A miss to DRAM takes some 100 ns on the same node and 1.5 to 2 times as long on another one. A query of two tables
// takes 1.3 us on the same node, and 2 us on another. Passing a task to a worker and back wakes two threads, which
// takes 15 to 25 us. So a few queries are answered faster by their caller.
//
// The package works on every host: without Linux, with one node, in a container that forbids mbind or move_pages, or
// after a change of the cpuset. An unavailable feature is skipped and reported once, in the log and in [Host.Notes].
// The system then chooses the place of memory and workers. Only missing memory is an error.
//
// A [Host] is read once and is safe for concurrent use. So is a [Crew]. The caller controls access to the memory of
// an [Arena].
package numa
