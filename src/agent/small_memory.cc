#include "agent/small_memory.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "base/memory.h"

namespace fairlead::agent {
namespace {

// The segments of an object that nobody writes to: what is let go of is read again from the file. Those with
// relocated pages are writable by their headers (RELRO is a part of such a segment), and stay.
int ReleaseObject(dl_phdr_info* object, size_t /*size*/, void* /*data*/) {
  if (object->dlpi_name == nullptr) return 0;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  // With relocations of text the loader writes to it all the same.
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_TEXTREL) return 0;
    }
  }
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const uintptr_t begin = (object->dlpi_addr + segment.p_vaddr) & ~(page - 1);
    const uintptr_t end = (object->dlpi_addr + segment.p_vaddr + segment.p_memsz) & ~(page - 1);
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void ReleaseStartPages() {
  ReturnFreeMemory();
  dl_iterate_phdr(ReleaseObject, nullptr);
}

}  // namespace fairlead::agent
