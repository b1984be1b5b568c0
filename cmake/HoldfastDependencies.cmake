# What is needed from the system; tools/packages names the Debian packages.

find_package(Threads REQUIRED)
find_package(RocksDB CONFIG REQUIRED)  # RocksDB::rocksdb-shared
find_package(CapnProto CONFIG REQUIRED)  # CapnProto::capnp, CapnProto::kj
# 1.81 is the first with as_tuple and awaitable_operators in the form used here.
find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS headers json)  # Boost::headers, Boost::json
find_package(OpenSSL REQUIRED)  # OpenSSL::Crypto
find_library(HOLDFAST_JEMALLOC jemalloc REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(tl-expected CONFIG REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)  # prometheus-cpp::core
