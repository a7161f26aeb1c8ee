// Package numa puts memory and work on the memory nodes of a host.
//
// A host of many sockets is many computers with one address space: each node
// has processors and memory beside them, and reading another node's memory
// takes longer. Data that is read at random, such as a table, should be in
// one node's memory, and be read by that node's processors:
//
//	          node 0                                node 1
//	+-----------------------------+      +-----------------------------+
//	| cores 0-15   arena: table 0 |      | cores 16-31  arena: table 1 |
//	|   ^ pinned       ^ bound    |<====>|   ^ pinned       ^ bound    |
//	|   +-- crew: workers --------|      |   +-- crew: workers --------|
//	+--------^--------------------+      +--------^--------------------+
//	         |  tasks, several at a time          |
//	         +------------- caller, anywhere -----+
//
// The words:
//
//	node       what the kernel numbers in /sys/devices/system/node
//	topology   all nodes of a host with their processors, memory and distances
//	usable     of a node: it has memory that this process may use, and processors
//	           that work on it, its own, or the nearest where it has none
//	arena      memory bound to a node, in huge pages where the kernel has some
//	placement  on which node each page of an arena is, as the kernel tells
//	worker     a goroutine on a thread of its own that runs on a node's
//	           processors only
//	crew       the workers of a node, who take tasks from one queue
//
// The free memory of a node is asked first: beyond it the kernel kills a process that has bound its
// memory.
//
// A miss to DRAM takes some 100 ns on its own node and 1.5 to 2 times that on another: a query of two
// tables takes 1.3 us here and 2 us there. To hand a task to a worker and to hear of its end wakes two
// threads, 15 to 25 us; a worker takes up to 32 tasks that wait at once, so under load that costs little.
//
// Nothing here fails because a host is not what it should be. Not Linux, one
// node, a container that forbids mbind or move_pages, a cpuset that has changed
// since: what cannot be had is left out and said once, in a line of the log and
// in [Host.Notes]; memory is where the system puts it then, and workers run
// where it lets them. Only memory that is not there is an error.
//
// A [Host] is read once and is safe for many goroutines. So is a [Crew]; an
// [Arena]'s memory is the caller's to share.
package numa
