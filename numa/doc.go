// Package numa reads which memory nodes a host has and which processors lie
// near them.
//
//	/sys/devices/system/node: online, node*/{cpulist,meminfo,distance} --Read--> Topology
//
// A Topology is a plain value, read once; the root of the file system is passed
// in, so that any host can be drawn in a test. A host without the files (not
// Linux, or a kernel without NUMA) is one node that holds every processor.
package numa
