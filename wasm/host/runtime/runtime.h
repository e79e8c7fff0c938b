// What Rust sees of the module (src/translated.rs has the same layouts).
#ifndef RUSTYJSON_RUNTIME_H
#define RUSTYJSON_RUNTIME_H

#include "wasm-rt.h"

// The functions of the module that the host calls, in the order of `Export` in src/translated.rs. Each takes up to three numbers.
#define RUSTYJSON_EXPORTS(each0, each1, each2, each3) \
  each0(abi_version) each1(input) each2(decode) each2(extend) each3(play) each2(resolve) each3(keys) \
  each2(feed) each2(many) each2(gzip) each2(format) each2(canonicalize) each0(reset)

typedef uint64_t rustyjson_export(void* instance, uint64_t a, uint64_t b, uint64_t c);

typedef struct rustyjson_module rustyjson_module;

// Makes an instance of zeroed bytes whose memory has its limits. This and the next one give 0, or the trap.
int rustyjson_start(const rustyjson_module*, void* instance);
// Runs one of the module's functions.
int rustyjson_run(const rustyjson_module*, void* instance, uint32_t export, const uint64_t arguments[3], uint64_t* result);
// Nanoseconds until the call must be over. They begin with the first question.
uint64_t rustyjson_time_left(wasm_rt_memory_t*);

// The module, compiled for one kind of processor, and the runtime that it is linked with.
struct rustyjson_module {
  size_t instance_size;
  void (*instantiate)(void* instance);
  void (*free)(void* instance);
  wasm_rt_memory_t* (*memory)(void* instance);
  int (*start)(const rustyjson_module*, void*);
  int (*run)(const rustyjson_module*, void*, uint32_t, const uint64_t*, uint64_t*);
  uint64_t (*time_left)(wasm_rt_memory_t*);
  rustyjson_export* exports[13];
};

#endif
