#include "base/memory.h"

#include <malloc.h>

namespace fairlead {

void PrepareMemory() {
  constexpr int kLarge = 1 << 20, kHeaps = 4;
  // NOLINTBEGIN(concurrency-mt-unsafe): there are no other threads yet.
  mallopt(M_MMAP_THRESHOLD, kLarge);  // fixed: by default it grows with what is freed
  mallopt(M_TRIM_THRESHOLD, 2 * kLarge);
  mallopt(M_ARENA_MAX, kHeaps);
  // NOLINTEND(concurrency-mt-unsafe)
}

void ReturnFreeMemory() { malloc_trim(0); }

}  // namespace fairlead
