// Package numa puts memory and work on the memory nodes of a host.
//
// A host of many sockets is many computers with one address space: each node
// has processors and memory beside them, and reading another node's memory
// takes longer. What is read at random all day, such as a table, should be in
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
//	arena      memory bound to a node, in huge pages, there before it is used
//	placement  on which node each page of an arena is, as the kernel tells
//	worker     a goroutine on a thread of its own that runs on a node's
//	           processors only
//	crew       the workers of a node, who take tasks from one queue
//
// How an arena comes to be where it should:
//
//	free memory of the node? --mmap--> address space --mbind--> bound
//	  --MADV_HUGEPAGE--> --MADV_POPULATE_WRITE, by threads of the node--> there
//	  --move_pages, asking--> placement
//
// The free memory is asked first, and again before each step of populating:
// beyond it the kernel kills a process that has bound its memory.
//
// Napkin: a miss to DRAM takes some 100 ns on its own node and 1.5 to 2 times
// that on another, one hop away; of misses under way together some 15 to 30 ns
// each, and less is lost, since more of them wait at a time. A query of two
// tables has 46 probes: 1.3 us here, 2 us there. A page of 4 KiB adds a walk of
// its page table, one or two misses more, so pages are huge and page tables are
// made by the node that uses them. Populating is 0.3 ns a byte and thread;
// asking where 4 KiB pages are, 0.1 us each. To hand a task to a worker who
// polls, and to hear of its end by polling, takes 0.7 us; a worker who sleeps
// wakes up in 15 to 25 us (BenchmarkHandOver in bench, 2 processors of a virtual
// machine). So both poll for 20 us before they sleep, but not while others
// need the processor; a worker takes all that waits at once, and none is woken
// for what another will see to.
//
// Nothing here fails because a host is not what it should be. Not Linux, one
// node, a container that forbids mbind or move_pages, a cpuset that has changed
// since: what cannot be had is left out and said once, in a line of the log and
// in [Host.Notes]; memory is where the system puts it then, and workers run
// where it lets them. Only memory that is not there is an error.
//
// A [Host] is read once and is safe for many goroutines. So is a [Crew]; an
// [Arena]'s memory is the caller's to share, a [Latch] belongs to who waits.
package numa
