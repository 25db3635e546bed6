#include "http2/guests.h"

#include <algorithm>

namespace fairlead::http2 {

Guests::Guests(Options options)
    : options_(std::move(options)),
      share_(options_.most / 2 / std::max<size_t>(1, options_.identifies.size())),
      rooms_(options_.identifies.size()) {}

// What the others have, or are to be left, and one more here.
bool Guests::HasRoomFor(size_t listener) const {
  size_t taken = 0;
  for (size_t i = 0; i < rooms_.size(); ++i)
    taken += std::max(rooms_[i].count + (i == listener ? 1 : 0), rooms_.size() == 1 ? 0 : share_);
  return taken <= options_.most;
}

// A listener may lose one for its own newcomers, and what it has beyond its share for those of others.
bool Guests::MayLose(size_t room, size_t listener) const {
  return room == listener || rooms_[room].count > share_;
}

std::optional<uint64_t> Guests::OldestOf(std::set<uint64_t> Room::*kind, size_t listener) const {
  std::optional<uint64_t> oldest;
  for (size_t i = 0; i < rooms_.size(); ++i) {
    const std::set<uint64_t>& all = rooms_[i].*kind;
    if (all.empty() || !MayLose(i, listener)) continue;
    oldest = std::min(oldest.value_or(UINT64_MAX), *all.begin());
  }
  return oldest;
}

std::optional<uint64_t> Guests::WhoLeaves(size_t listener, size_t at_address) const {
  if (const auto silent = OldestOf(&Room::silent, listener)) return silent;
  const Address* largest = nullptr;
  for (size_t i = 0; i < rooms_.size(); ++i) {
    if (rooms_[i].ranks.empty() || !MayLose(i, listener)) continue;
    const Address& address = rooms_[i].addresses.find(*rooms_[i].ranks.rbegin()->second)->second;
    if (largest == nullptr || address.count > largest->count) largest = &address;
  }
  if (largest != nullptr && largest->count > at_address + 1) return *largest->heard.begin();
  if (options_.identifies[listener]) return OldestOf(&Room::heard, listener);
  return std::nullopt;
}

Guests::Arrival Guests::Arrive(size_t listener, std::string_view address, size_t loop) {
  std::lock_guard lock(mutex_);
  Room& room = rooms_[listener];
  const auto known = room.addresses.find(address);
  const size_t at_address = known == room.addresses.end() ? 0 : known->second.count;
  Arrival arrival;
  std::optional<uint64_t> leaves;
  if (!address.empty() && at_address >= options_.most_per_address) {
    if (known->second.silent.empty()) return {.limit = "address"};
    leaves = *known->second.silent.begin();
  } else if (!HasRoomFor(listener)) {
    leaves = WhoLeaves(listener, at_address);
    if (!leaves) return {.limit = "connections"};
  }
  if (leaves) arrival.leaves = Forget(*leaves);
  const auto place = room.addresses.try_emplace(std::string(address)).first;
  arrival.id = ++last_;
  const Guest& guest = guests_.emplace(arrival.id, Guest{listener, loop, place}).first->second;
  ++room.count;
  CountAddress(&room, place, 1);
  Place(arrival.id, guest, true);
  return arrival;
}

void Guests::CountAddress(Room* room, Addresses::iterator address, int change) {
  size_t& count = address->second.count;
  if (count > 0) room->ranks.erase({count, &address->first});
  count = change > 0 ? count + 1 : count - 1;
  if (count > 0) {
    room->ranks.insert({count, &address->first});
  } else {
    room->addresses.erase(address);
  }
}

// Among those that may have to go, or no more.
void Guests::Place(uint64_t id, const Guest& guest, bool there) {
  if (guest.standing == Standing::kProven) return;
  Room& room = rooms_[guest.listener];
  const bool silent = guest.standing == Standing::kSilent;
  for (std::set<uint64_t>* all : {silent ? &room.silent : &room.heard,
                                  silent ? &guest.address->second.silent : &guest.address->second.heard}) {
    if (there) {
      all->insert(id);
    } else {
      all->erase(id);
    }
  }
}

void Guests::Note(uint64_t id, Standing standing) {
  std::lock_guard lock(mutex_);
  const auto found = guests_.find(id);
  if (found == guests_.end() || found->second.standing == standing ||
      found->second.standing == Standing::kProven)
    return;
  Guest& guest = found->second;
  Place(id, guest, false);
  guest.standing = standing;
  if (standing == Standing::kProven) {
    CountAddress(&rooms_[guest.listener], guest.address, -1);
    guest.address = {};
  }
  Place(id, guest, true);
}

Guests::Leaving Guests::Forget(uint64_t id) {
  const auto found = guests_.find(id);
  const Guest guest = found->second;
  guests_.erase(found);
  Room& room = rooms_[guest.listener];
  --room.count;
  Place(id, guest, false);
  if (guest.standing != Standing::kProven) CountAddress(&room, guest.address, -1);
  return {guest.loop, id};
}

void Guests::Leave(uint64_t id) {
  std::lock_guard lock(mutex_);
  if (guests_.contains(id)) Forget(id);
}

}  // namespace fairlead::http2
