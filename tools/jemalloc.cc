// Commands and events are made on one thread and freed on another, which costs glibc's allocator
// locks and memory that does not come back. The state and the caches of rows are looked up all over
// memory: huge pages save most of the address translation, and pages given back to the system too
// soon are only faulted in again (docs/performance.md).

// Read by jemalloc before main() (jemalloc(3), TUNING).
extern "C" const char* malloc_conf;
const char* malloc_conf = "thp:always,metadata_thp:auto,dirty_decay_ms:60000";
