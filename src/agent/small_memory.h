#ifndef FAIRLEAD_AGENT_SMALL_MEMORY_H_
#define FAIRLEAD_AGENT_SMALL_MEMORY_H_

namespace fairlead::agent {

// An agent is beside each workload, mostly idle, and its program has the control plane's parts, too. Lets go
// of pages of the program and its libraries that only the start needed, and of the heap's free ones. Pages
// that are needed again come from the system's cache of files. Any thread.
void ReleaseStartPages();

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_SMALL_MEMORY_H_
