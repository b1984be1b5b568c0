// Commands are made on one thread and freed on another, which glibc's allocator pays for with locks
// and with memory that does not come back; and the state is looked up all over its memory, where
// huge pages save most of the address translation (docs/performance.md).

// Read by jemalloc before main() (jemalloc(3), TUNING).
extern "C" const char* malloc_conf;
const char* malloc_conf = "thp:always,metadata_thp:auto";
