// What the C code of the WebAssembly module needs to run: types, traps, linear memory. It takes the place of WABT's own runtime,
// which brings a signal handler, address-space reservations and aborts into the process.
//
// Three checks keep the module inside its limits. Each is in the code itself, so none needs a signal, a thread or a page:
//   memory  each access is compared with the size of linear memory (WASM_RT_AT)
//   time    each loop and each function takes from `fuel`; when it is used up, the clock is read
//   stack   each function compares the stack pointer with `stack_end`
#ifndef RUSTYJSON_WASM_RT_H
#define RUSTYJSON_WASM_RT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef __has_builtin
#define __has_builtin(x) 0
#endif

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define wasm_rt_memcpy __builtin_memcpy
#define wasm_rt_unreachable __builtin_unreachable

// The module's code keeps address and size of linear memory in local variables, and compares each index with the size.
#define WASM_RT_USE_MMAP 1
#define WASM_RT_MEMCHECK_BOUNDS_CHECK 1
#define WASM_RT_MEMCHECK_GUARD_PAGES 0
#define WASM_RT_NONCONFORMING_ALLOW_OOB_READ_ELIMINATION 0
#define WASM_RT_STACK_DEPTH_COUNT 0
#define WASM_RT_USE_SEGUE 0
#define WASM_RT_SANITY_CHECKS 0
#define WABT_BIG_ENDIAN 0

// The numbers are those of `Trap` in src/translated.rs.
typedef enum {
  WASM_RT_TRAP_NONE,
  WASM_RT_TRAP_OOB,
  WASM_RT_TRAP_INT_OVERFLOW,
  WASM_RT_TRAP_DIV_BY_ZERO,
  WASM_RT_TRAP_INVALID_CONVERSION,
  WASM_RT_TRAP_UNREACHABLE,
  WASM_RT_TRAP_CALL_INDIRECT,
  WASM_RT_TRAP_EXHAUSTION,
  WASM_RT_TRAP_DEADLINE,
} wasm_rt_trap_t;

typedef enum { WASM_RT_I32, WASM_RT_I64, WASM_RT_F32, WASM_RT_F64, WASM_RT_V128, WASM_RT_FUNCREF, WASM_RT_EXTERNREF } wasm_rt_type_t;

typedef void (*wasm_rt_function_ptr_t)(void);
typedef struct { wasm_rt_function_ptr_t fn; } wasm_rt_tailcallee_t;
typedef const char* wasm_rt_func_type_t;

typedef struct {
  wasm_rt_func_type_t func_type;
  wasm_rt_function_ptr_t func;
  wasm_rt_tailcallee_t func_tailcallee;
  void* module_instance;
} wasm_rt_funcref_t;

#define wasm_rt_funcref_null_value ((wasm_rt_funcref_t){NULL, NULL, {NULL}, NULL})

typedef void* wasm_rt_externref_t;
#define wasm_rt_externref_null_value ((wasm_rt_externref_t)NULL)

// Linear memory, and the limits of the call that runs on it.
typedef struct {
  uint8_t* data;
  uint64_t size;
  // Loops and functions until the clock is read: always more than 0 between two of them.
  int64_t fuel;
  // The lowest address that the stack may reach.
  uintptr_t stack_end;
  // Bytes that `data` has room for, without the border. What lies behind both `size` and the border is zero.
  uint64_t room;
  // The most bytes that the call may have, and whether it asked for more.
  uint64_t max_size;
  uint64_t denied;
  // Nanoseconds that the call may take, and when it must be over by the clock. Most calls end before the clock is read, so the time
  // begins when it is read first: until then `deadline` is 0.
  uint64_t timeout;
  uint64_t deadline;
} wasm_rt_memory_t;

typedef struct {
  wasm_rt_funcref_t* data;
  uint32_t size;
} wasm_rt_funcref_table_t;

typedef struct {
  wasm_rt_externref_t* data;
  uint32_t size;
} wasm_rt_externref_table_t;

// The module's code does not say which instance traps, so the thread knows it.
__attribute__((noreturn, cold, noinline)) void wasm_rt_trap(wasm_rt_trap_t);

void wasm_rt_allocate_memory(wasm_rt_memory_t*, uint64_t pages, uint64_t max_pages, bool is64, uint32_t page_size);
uint64_t wasm_rt_grow_memory(wasm_rt_memory_t*, uint64_t pages);
void wasm_rt_free_memory(wasm_rt_memory_t*);
void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t*, uint32_t elements, uint32_t max_elements);
void wasm_rt_free_funcref_table(wasm_rt_funcref_table_t*);
static inline bool wasm_rt_is_initialized(void) { return true; }

// Reads the clock and goes on, or traps.
__attribute__((cold, noinline)) void wasm_rt_refuel(wasm_rt_memory_t*);

static inline uintptr_t wasm_rt_stack_pointer(void) {
#if defined(__x86_64__)
  uintptr_t at;
  __asm__ volatile("mov %%rsp, %0" : "=r"(at));
  return at;
#elif defined(__aarch64__) || defined(__riscv)
  uintptr_t at;
  __asm__ volatile("mov %0, sp" : "=r"(at));
  return at;
#else
  return (uintptr_t)__builtin_frame_address(0);
#endif
}

// Bytes that belong to the instance beyond the size of its memory. With them it is enough to compare an index with the size: the offset and
// the width of the access stay within the border. Many accesses have the same index, and the compiler keeps one comparison for all.
#define WASM_RT_BORDER 4096u
// The widest access is a vector.
#define WASM_RT_WIDEST 16u

// The place in memory that an access names. Beyond the border it is a trap; within it, the module reads and writes what is its own.
static inline __attribute__((always_inline)) uint64_t wasm_rt_at(uint64_t size, uint32_t index, uint32_t offset) {
  uint64_t at = (uint64_t)index + offset;
  if (UNLIKELY((offset <= WASM_RT_BORDER - WASM_RT_WIDEST ? index : at) >= size)) wasm_rt_trap(WASM_RT_TRAP_OOB);
  return at;
}
#define WASM_RT_AT(index, offset) wasm_rt_at(wasm_rt_local_memory_size, index, offset)

// In each loop. There is always some left in front of it, so that it cannot miss the zero, for which a processor needs one instruction to
// count and another one to jump. (For a comparison with less, compilers took five and two registers.)
#define WASM_RT_SPEND(memory)              \
  if (UNLIKELY(--(memory)->fuel == 0)) {   \
    wasm_rt_refuel(memory);                \
  }

// In each function.
#define WASM_RT_ENTER(memory)                                       \
  if (UNLIKELY(wasm_rt_stack_pointer() < (memory)->stack_end)) {    \
    wasm_rt_trap(WASM_RT_TRAP_EXHAUSTION);                          \
  }                                                                 \
  WASM_RT_SPEND(memory)

// What copies or fills many bytes does so in steps, each of which counts as many loops: no step takes long.
#define WASM_RT_STEP (1u << 18)
#define WASM_RT_SPEND_BYTES(memory, bytes)   \
  (memory)->fuel -= (int64_t)((bytes) >> 6); \
  if (UNLIKELY((memory)->fuel <= 0)) {       \
    wasm_rt_refuel(memory);                  \
  }

static inline void wasm_rt_fill(wasm_rt_memory_t* memory, uint8_t* to, uint32_t value, uint64_t bytes) {
  while (UNLIKELY(bytes > WASM_RT_STEP)) {
    memset(to, (int)value, WASM_RT_STEP);
    WASM_RT_SPEND_BYTES(memory, WASM_RT_STEP)
    to += WASM_RT_STEP;
    bytes -= WASM_RT_STEP;
  }
  memset(to, (int)value, bytes);
  WASM_RT_SPEND_BYTES(memory, bytes)
}

// Both places may overlap.
static inline void wasm_rt_copy(wasm_rt_memory_t* memory, uint8_t* to, const uint8_t* from, uint64_t bytes) {
  while (UNLIKELY(bytes > WASM_RT_STEP)) {
    bytes -= WASM_RT_STEP;
    if (to < from) {
      memmove(to, from, WASM_RT_STEP);
      to += WASM_RT_STEP;
      from += WASM_RT_STEP;
    } else {
      memmove(to + bytes, from + bytes, WASM_RT_STEP);
    }
    WASM_RT_SPEND_BYTES(memory, WASM_RT_STEP)
  }
  memmove(to, from, bytes);
  WASM_RT_SPEND_BYTES(memory, bytes)
}

#endif
