#ifndef FAIRLEAD_BASE_MEMORY_H_
#define FAIRLEAD_BASE_MEMORY_H_

// The allocator's (glibc's) habits, which suit programs that never give anything back.
namespace fairlead {

// For a server: large blocks are returned as soon as they are freed, and few threads' worth of separate heaps
// are kept. To be called once, before there are threads.
void PrepareMemory();
// Gives pages that are free, wherever they are in the heap, back to the system. Milliseconds for each 100 MB.
void ReturnFreeMemory();

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_MEMORY_H_
