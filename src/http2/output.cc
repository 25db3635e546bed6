#include "http2/output.h"

#include <algorithm>
#include <cstring>

namespace fairlead::http2 {

void Batch::Clear() {
  pieces_.clear();
  used_ = size_ = 0;
}

void Batch::Copy(const void* bytes, size_t size) {
  uint8_t* const to = scratch_.get() + used_;
  memcpy(to, bytes, size);
  used_ += size;
  size_ += size;
  iovec* last = pieces_.empty() ? nullptr : &pieces_.back();
  if (last != nullptr && static_cast<uint8_t*>(last->iov_base) + last->iov_len == to) {
    last->iov_len += size;
  } else {
    pieces_.push_back({to, size});
  }
}

void Batch::Refer(std::string_view bytes) {
  if (bytes.empty()) return;
  pieces_.push_back({const_cast<char*>(bytes.data()), bytes.size()});
  size_ += bytes.size();
}

void Unwritten::Keep(const Batch& batch, size_t from) {
  size_t own = 0;
  for (const iovec& piece : batch.pieces()) own += batch.Owns(piece) ? piece.iov_len : 0;
  copied_.clear();
  copied_.reserve(own);  // INVARIANT: it does not move while the pieces point into it
  pieces_.clear();
  at_ = 0;
  for (iovec piece : batch.pieces()) {
    const size_t skipped = std::min(from, piece.iov_len);
    from -= skipped;
    const bool copy = batch.Owns(piece);
    piece.iov_base = static_cast<char*>(piece.iov_base) + skipped;
    piece.iov_len -= skipped;
    if (piece.iov_len == 0) continue;
    if (copy) {
      const size_t at = copied_.size();
      copied_.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
      piece.iov_base = copied_.data() + at;
    }
    pieces_.push_back(piece);
  }
}

void Unwritten::Pieces(size_t count, std::vector<iovec>* out) const {
  const size_t end = std::min(pieces_.size(), at_ + count);
  out->assign(pieces_.begin() + static_cast<ptrdiff_t>(at_), pieces_.begin() + static_cast<ptrdiff_t>(end));
}

void Unwritten::Skip(size_t written) {
  while (written > 0) {
    iovec& piece = pieces_[at_];
    const size_t part = std::min(written, piece.iov_len);
    piece.iov_base = static_cast<char*>(piece.iov_base) + part;
    piece.iov_len -= part;
    written -= part;
    if (piece.iov_len == 0) ++at_;
  }
  if (!empty()) return;
  std::vector<iovec>().swap(pieces_);
  std::string().swap(copied_);
  at_ = 0;
}

}  // namespace fairlead::http2
