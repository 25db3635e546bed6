#ifndef FAIRLEAD_BASE_SORTED_MAP_H_
#define FAIRLEAD_BASE_SORTED_MAP_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "base/copy_on_write.h"

namespace fairlead {

// An ordered map whose copies share what they have in common: a copy costs one pointer, a change of a copy
// copies the list of chunks and the chunk that it touches, each once. Reading from several threads is safe;
// so is changing a copy while others read other copies.
template <typename Key, typename Value, typename Less = std::less<Key>, size_t kChunk = 64>
class SortedMap {
 public:
  using Entry = std::pair<Key, Value>;

 private:
  using Chunk = std::vector<Entry>;
  struct Spine {
    std::vector<CopyOnWrite<Chunk>> chunks;  // INVARIANT: none is empty; sorted by their keys
    size_t size = 0;
  };

 public:
  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;

    const_iterator() = default;
    reference operator*() const { return (*(*chunks_)[chunk_].get())[entry_]; }
    pointer operator->() const { return &**this; }
    const_iterator& operator++() {
      if (++entry_ == (*chunks_)[chunk_].get()->size()) {
        ++chunk_;
        entry_ = 0;
      }
      return *this;
    }
    const_iterator operator++(int) {
      const_iterator before = *this;
      ++*this;
      return before;
    }
    // REQUIRES: both are of one map.
    friend bool operator==(const const_iterator& a, const const_iterator& b) {
      return a.chunk_ == b.chunk_ && a.entry_ == b.entry_;
    }

   private:
    friend class SortedMap;
    const_iterator(const std::vector<CopyOnWrite<Chunk>>* chunks, size_t chunk, size_t entry)
        : chunks_(chunks), chunk_(chunk), entry_(entry) {}
    const std::vector<CopyOnWrite<Chunk>>* chunks_ = nullptr;
    size_t chunk_ = 0, entry_ = 0;
  };

  const_iterator begin() const { return {&Chunks(), 0, 0}; }
  const_iterator end() const { return {&Chunks(), Chunks().size(), 0}; }
  size_t size() const { return spine_.get() == nullptr ? 0 : spine_.get()->size; }
  bool empty() const { return size() == 0; }

  // The first entry whose key is not less.
  const_iterator LowerBound(const Key& key) const {
    const auto& chunks = Chunks();
    const size_t chunk = ChunkOf(chunks, key);
    if (chunk == chunks.size()) return end();
    const Chunk& entries = *chunks[chunk].get();
    const size_t entry = PlaceIn(entries, key);
    return entry == entries.size() ? const_iterator(&chunks, chunk + 1, 0)
                                   : const_iterator(&chunks, chunk, entry);
  }
  // Null where there is none. Good until the map is changed or gone.
  const Value* Find(const Key& key) const {
    const const_iterator place = LowerBound(key);
    return place == end() || Less()(key, place->first) ? nullptr : &place->second;
  }
  bool contains(const Key& key) const { return Find(key) != nullptr; }

  void Set(const Key& key, Value value) {
    Spine& spine = spine_.Edit();
    if (spine.chunks.empty()) spine.chunks.emplace_back();
    const size_t number = ChunkOf(spine.chunks, key);
    Chunk& entries = spine.chunks[number].Edit();
    const size_t place = PlaceIn(entries, key);
    if (place < entries.size() && !Less()(key, entries[place].first)) {
      entries[place].second = std::move(value);
      return;
    }
    entries.insert(entries.begin() + static_cast<ptrdiff_t>(place), Entry(key, std::move(value)));
    ++spine.size;
    if (entries.size() > kChunk) Split(&spine, number, place + 1 == entries.size());
  }
  void Erase(const Key& key) {
    if (!contains(key)) return;
    Spine& spine = spine_.Edit();
    const size_t number = ChunkOf(spine.chunks, key);
    Chunk& entries = spine.chunks[number].Edit();
    entries.erase(entries.begin() + static_cast<ptrdiff_t>(PlaceIn(entries, key)));
    --spine.size;
    if (entries.empty()) {
      spine.chunks.erase(spine.chunks.begin() + static_cast<ptrdiff_t>(number));
    } else {
      Join(&spine, number);
    }
  }

  // Calls visit(key, was, is) in order for each key whose value differs (operator==) from that in `before`;
  // null stands for none. Chunks that the two share are passed over.
  template <typename Visit>
  void ForEachDifference(const SortedMap& before, Visit&& visit) const {
    if (spine_ == before.spine_) return;
    constexpr const Value* kNone = nullptr;
    const_iterator is = begin(), was = before.begin();
    const const_iterator is_end = end(), was_end = before.end();
    for (;;) {
      if (is != is_end && was != was_end && PassShared(&is, &was)) continue;
      if (is == is_end && was == was_end) return;
      if (was == was_end || (is != is_end && Less()(is->first, was->first))) {
        visit(is->first, kNone, &is->second);
        ++is;
      } else if (is == is_end || Less()(was->first, is->first)) {
        visit(was->first, &was->second, kNone);
        ++was;
      } else {
        if (!(is->second == was->second)) visit(is->first, &was->second, &is->second);
        ++is;
        ++was;
      }
    }
  }

 private:
  const std::vector<CopyOnWrite<Chunk>>& Chunks() const {
    static const std::vector<CopyOnWrite<Chunk>> none;
    return spine_.get() == nullptr ? none : spine_.get()->chunks;
  }
  // The chunk where a key is or belongs: the last that does not begin after it, else the first.
  static size_t ChunkOf(const std::vector<CopyOnWrite<Chunk>>& chunks, const Key& key) {
    if (chunks.empty()) return 0;
    const auto after = std::upper_bound(
        chunks.begin() + 1, chunks.end(), key,
        [](const Key& k, const CopyOnWrite<Chunk>& chunk) { return Less()(k, chunk.get()->front().first); });
    return static_cast<size_t>(after - chunks.begin()) - 1;
  }
  static size_t PlaceIn(const Chunk& entries, const Key& key) {
    const auto place = std::lower_bound(entries.begin(), entries.end(), key,
                                        [](const Entry& e, const Key& k) { return Less()(e.first, k); });
    return static_cast<size_t>(place - entries.begin());
  }
  // Steps over the chunk where both are, if it is the same and both are at its beginning.
  static bool PassShared(const_iterator* a, const_iterator* b) {
    if (a->entry_ != 0 || b->entry_ != 0) return false;
    if (!((*a->chunks_)[a->chunk_] == (*b->chunks_)[b->chunk_])) return false;
    ++a->chunk_;
    ++b->chunk_;
    return true;
  }
  // Keys that come in order leave full chunks behind.
  static void Split(Spine* spine, size_t number, bool at_end) {
    Chunk& full = spine->chunks[number].Edit();
    const size_t keep = at_end ? full.size() - 1 : full.size() / 2;
    CopyOnWrite<Chunk> rest;
    rest.Edit().assign(std::make_move_iterator(full.begin() + static_cast<ptrdiff_t>(keep)),
                       std::make_move_iterator(full.end()));
    full.resize(keep);
    spine->chunks.insert(spine->chunks.begin() + static_cast<ptrdiff_t>(number) + 1, std::move(rest));
  }
  // Joins a chunk with the next where both together are less than half a chunk.
  static void Join(Spine* spine, size_t number) {
    if (number + 1 >= spine->chunks.size()) return;
    const size_t both = spine->chunks[number].get()->size() + spine->chunks[number + 1].get()->size();
    if (both > kChunk / 2) return;
    Chunk& entries = spine->chunks[number].Edit();
    const Chunk& next = *spine->chunks[number + 1].get();
    entries.insert(entries.end(), next.begin(), next.end());
    spine->chunks.erase(spine->chunks.begin() + static_cast<ptrdiff_t>(number) + 1);
  }

  CopyOnWrite<Spine> spine_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_SORTED_MAP_H_
