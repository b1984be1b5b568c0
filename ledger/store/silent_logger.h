#pragma once

#include <rocksdb/env.h>
#include <cstdarg>

namespace holdfast::store {

// RocksDB's own log of its doings, kept nowhere.
class SilentLogger : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
  std::size_t GetLogFileSize() const override { return 0; }
};

}  // namespace holdfast::store
