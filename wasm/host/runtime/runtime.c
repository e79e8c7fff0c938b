#define _GNU_SOURCE
// Traps, time and memory of the module. Nothing here knows the VM.
#include "runtime.h"

#include <stdlib.h>
#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#include <time.h>
#endif

// Loops and functions between two looks at the clock: some tens of microseconds.
#define FUEL 8192
// Bytes of the stack that the module may use. It needs some 6 KB, for it does not recurse.
#define STACK (64u << 10)
#define PAGE 65536u
// From here up, memory comes from the system, which moves it without a copy.
#define LARGE (1u << 20)

// Without the mask of signals, which would take a call of the system.
#if defined(_WIN32)
#define SET_JUMP(buffer) __builtin_setjmp(buffer)
#define JUMP(buffer) __builtin_longjmp(buffer, 1)
#else
#define SET_JUMP(buffer) _setjmp(buffer)
#define JUMP(buffer) _longjmp(buffer, 1)
#endif

// Where a trap of this thread's call goes, and which one it was.
static _Thread_local jmp_buf* on_trap;
static _Thread_local wasm_rt_trap_t trapped;

static uint64_t now_ns(void) {
#if defined(_WIN32)
  LARGE_INTEGER at, frequency;
  QueryPerformanceCounter(&at);
  QueryPerformanceFrequency(&frequency);
  return (uint64_t)((double)at.QuadPart * 1e9 / (double)frequency.QuadPart);
#else
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
#endif
}

void wasm_rt_trap(wasm_rt_trap_t trap) {
  trapped = trap;
  JUMP(*on_trap);
}

uint64_t rustyjson_time_left(wasm_rt_memory_t* memory) {
  uint64_t now = now_ns();
  if (memory->deadline == 0) memory->deadline = memory->timeout < UINT64_MAX - now ? now + memory->timeout : UINT64_MAX;
  return now < memory->deadline ? memory->deadline - now : 0;
}

void wasm_rt_refuel(wasm_rt_memory_t* memory) {
  if (rustyjson_time_left(memory) == 0) wasm_rt_trap(WASM_RT_TRAP_DEADLINE);
  memory->fuel = FUEL;
}

// Runs code of the module: 0, or the trap that ended it.
#define GUARDED(memory_, code)                              \
  jmp_buf here;                                             \
  jmp_buf* outer = on_trap;                                 \
  wasm_rt_memory_t* memory = memory_;                       \
  if (SET_JUMP(here) != 0) {                                \
    on_trap = outer;                                        \
    return (int)trapped;                                    \
  }                                                         \
  on_trap = &here;                                          \
  memory->fuel = FUEL;                                      \
  memory->stack_end = wasm_rt_stack_pointer() - STACK;      \
  code;                                                     \
  on_trap = outer;                                          \
  return 0;

int rustyjson_start(const rustyjson_module* module, void* instance) {
  GUARDED(module->memory(instance), module->instantiate(instance))
}

int rustyjson_run(const rustyjson_module* module, void* instance, uint32_t export, const uint64_t arguments[3], uint64_t* result) {
  GUARDED(module->memory(instance), *result = module->exports[export](instance, arguments[0], arguments[1], arguments[2]))
}

// The memory that the last instance of this thread gave back. The system's allocator returns what is free at its top to the kernel, and a
// new instance then waits for each page: 18 us instead of 5.
static _Thread_local uint8_t* spare;
static _Thread_local uint64_t spare_bytes;

static uint8_t* zeroed(uint64_t bytes) {
  if (spare != NULL && spare_bytes == bytes) {
    uint8_t* data = spare;
    spare = NULL;
    return memset(data, 0, bytes);
  }
#if !defined(_WIN32)
  if (bytes >= LARGE) {
    void* data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data == MAP_FAILED ? NULL : data;
  }
#endif
  return calloc(1, bytes);
}

static void give_back(uint8_t* data, uint64_t bytes) {
  if (spare == NULL && bytes < LARGE) {
    spare = data;
    spare_bytes = bytes;
    return;
  }
#if !defined(_WIN32)
  if (bytes >= LARGE) {
    munmap(data, bytes);
    return;
  }
#endif
  free(data);
}

// Room for this many bytes and the border, of which the first ones are those of `memory` and the others zero. False where there is none.
static bool make_room(wasm_rt_memory_t* memory, uint64_t bytes) {
  uint8_t* data;
#if defined(__linux__)
  if (memory->room + WASM_RT_BORDER >= LARGE) {
    data = mremap(memory->data, memory->room + WASM_RT_BORDER, bytes + WASM_RT_BORDER, MREMAP_MAYMOVE);
    if (data == MAP_FAILED) return false;
    memory->data = data;
    memory->room = bytes;
    return true;
  }
#endif
  data = zeroed(bytes + WASM_RT_BORDER);
  if (data == NULL) return false;
  if (memory->size > 0) memcpy(data, memory->data, memory->size);
  if (memory->data != NULL) give_back(memory->data, memory->room + WASM_RT_BORDER);
  memory->data = data;
  memory->room = bytes;
  return true;
}

uint64_t wasm_rt_grow_memory(wasm_rt_memory_t* memory, uint64_t pages) {
  uint64_t before = memory->size / PAGE;
  uint64_t size = memory->size + pages * PAGE;
  if (pages > UINT32_MAX / PAGE || size > memory->max_size) {
    memory->denied = 1;
    return UINT32_MAX;
  }
  if (size > memory->room) {
    // Twice as much, so that many small steps move little.
    uint64_t twice = 2 * memory->room < memory->max_size ? 2 * memory->room : memory->max_size;
    if (!(twice > size && make_room(memory, twice)) && !make_room(memory, size)) {
      memory->denied = 1;
      return UINT32_MAX;
    }
  }
  // What the module left in the border does not become memory, which is zero when it is new.
  memset(memory->data + memory->size, 0, WASM_RT_BORDER);
  memory->size = size;
  return before;
}

void wasm_rt_allocate_memory(wasm_rt_memory_t* memory, uint64_t pages, uint64_t max_pages, bool is64, uint32_t page_size) {
  (void)max_pages, (void)is64, (void)page_size;
  if (wasm_rt_grow_memory(memory, pages) != 0) wasm_rt_trap(WASM_RT_TRAP_UNREACHABLE);
}

void wasm_rt_free_memory(wasm_rt_memory_t* memory) {
  if (memory->data != NULL) give_back(memory->data, memory->room + WASM_RT_BORDER);
  memory->data = NULL;
  memory->size = memory->room = 0;
}

void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t* table, uint32_t elements, uint32_t max_elements) {
  (void)max_elements;
  table->data = calloc(elements, sizeof(wasm_rt_funcref_t));
  if (table->data == NULL) wasm_rt_trap(WASM_RT_TRAP_UNREACHABLE);
  table->size = elements;
}

void wasm_rt_free_funcref_table(wasm_rt_funcref_table_t* table) { free(table->data); }
