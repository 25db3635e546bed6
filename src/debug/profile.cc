#include <malloc.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "base/cpu_profile.h"
#include "base/strings.h"
#include "debug/page_json.h"
#include "debug/tables.h"

// Where the process itself spends time and memory, in place of Go's pprof.
namespace fairlead::debug {
namespace {

constexpr int kMostSeconds = 300, kSeconds = 30;

}  // namespace

Page CpuProfilePage(const Sources&, const Query& query) {
  int seconds = kSeconds;
  if (const std::string text = Value(query, "seconds"); !text.empty()) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size() || seconds < 1 || seconds > kMostSeconds)
      return TextPage(400, StrCat("seconds is a number from 1 to ", kMostSeconds, "\n"));
  }
  auto profile = ProfileCpu(std::chrono::seconds(seconds));
  if (!profile.ok()) return TextPage(409, StrCat(FromAbsl(profile.status().message()), "\n"));
  return {200, *std::move(profile), "application/octet-stream"};
}

Page HeapPage(const Sources&, const Query& query) {
  if (!query.contains("arenas")) {
    const struct mallinfo2 info = mallinfo2();
    return JsonPage({{"allocatedBytes", info.uordblks + info.hblkhd},
                     {"freeBytes", info.fordblks},
                     {"mappedBytes", info.arena + info.hblkhd},
                     {"largeBlocks", info.hblks},
                     {"largeBlockBytes", info.hblkhd},
                     {"trimmableBytes", info.keepcost}},
                    query);
  }
  char* text = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  if (out == nullptr) return TextPage(500, "no memory for the page\n");
  malloc_info(0, out);
  std::fclose(out);
  Page page{200, std::string(text, size), "text/xml"};
  std::free(text);
  return page;
}

Page TransportPage(const Sources& sources, const Query& query) {
  return JsonPage(sources.transport(), query);
}

}  // namespace fairlead::debug
