// The translated module and a table of its functions. Compiled once for each kind of processor, with another RUSTYJSON_TABLE.
#include "runtime.h"
#include RUSTYJSON_GUEST

#define EXPORT0(name) \
  static uint64_t call_##name(void* instance, uint64_t a, uint64_t b, uint64_t c) { return RESULT_##name(w2c_rustyjson_##name(instance)); }
#define EXPORT1(name) \
  static uint64_t call_##name(void* instance, uint64_t a, uint64_t b, uint64_t c) { return w2c_rustyjson_##name(instance, a); }
#define EXPORT2(name) \
  static uint64_t call_##name(void* instance, uint64_t a, uint64_t b, uint64_t c) { return w2c_rustyjson_##name(instance, a, b); }
#define EXPORT3(name) \
  static uint64_t call_##name(void* instance, uint64_t a, uint64_t b, uint64_t c) { return w2c_rustyjson_##name(instance, a, b, c); }
#define RESULT_abi_version(call) call
#define RESULT_reset(call) (call, 0)

RUSTYJSON_EXPORTS(EXPORT0, EXPORT1, EXPORT2, EXPORT3)

static void instantiate(void* instance) { wasm2c_rustyjson_instantiate(instance); }
static void release(void* instance) { wasm2c_rustyjson_free(instance); }
static wasm_rt_memory_t* memory(void* instance) { return w2c_rustyjson_memory(instance); }

#define ENTRY(name) call_##name,
const rustyjson_module RUSTYJSON_TABLE = {
    sizeof(w2c_rustyjson), instantiate,   release,
    memory,                rustyjson_start, rustyjson_run, rustyjson_time_left,
    {RUSTYJSON_EXPORTS(ENTRY, ENTRY, ENTRY, ENTRY)},
};
