//! The WebAssembly module, translated to C ahead of time and compiled into this library. The one module here with `unsafe`: it
//! calls C (`runtime/`), which knows the limits of a call and stops the module at each of them by itself.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::c_void;
use std::ptr::NonNull;

/// The functions of the module, in the order of `RUSTYJSON_EXPORTS` in runtime/runtime.h; wasm/guest/src/lib.rs says what each does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Export {
    AbiVersion,
    Input,
    Decode,
    Extend,
    Play,
    Resolve,
    Keys,
    Feed,
    Many,
    Gzip,
    Format,
    Canonicalize,
    Reset,
}

/// Why the module stopped: `wasm_rt_trap_t` in runtime/wasm-rt.h.
// A word long: a shorter one makes the compiler copy results in pieces, which the processor waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Trap {
    /// An address outside linear memory, or no memory for it.
    OutOfBounds,
    /// An integer division or conversion whose result does not fit.
    IntegerOverflow,
    /// An integer divided by zero.
    DivisionByZero,
    /// NaN as an integer.
    InvalidConversion,
    /// It gave up, as after a panic.
    Unreachable,
    /// A call through the table to no function of this type.
    IndirectCall,
    /// Too many functions inside each other.
    StackExhausted,
    /// The time of the call is over.
    Deadline,
}

impl Trap {
    fn new(number: i32) -> Self {
        match number {
            1 => Self::OutOfBounds,
            2 => Self::IntegerOverflow,
            3 => Self::DivisionByZero,
            4 => Self::InvalidConversion,
            6 => Self::IndirectCall,
            7 => Self::StackExhausted,
            8 => Self::Deadline,
            _ => Self::Unreachable,
        }
    }

    /// The same for people, in the words of the WebAssembly specification.
    pub const fn text(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out of bounds memory access",
            Self::IntegerOverflow => "integer overflow",
            Self::DivisionByZero => "integer divide by zero",
            Self::InvalidConversion => "invalid conversion to integer",
            Self::Unreachable => "unreachable executed",
            Self::IndirectCall => "indirect call type mismatch",
            Self::StackExhausted => "call stack exhausted",
            Self::Deadline => "deadline exceeded",
        }
    }
}

/// `wasm_rt_memory_t` in runtime/wasm-rt.h.
#[repr(C)]
struct Memory {
    data: *mut u8,
    size: u64,
    fuel: i64,
    stack_end: usize,
    room: u64,
    max_size: u64,
    denied: u64,
    timeout: u64,
    deadline: u64,
}

type Call = unsafe extern "C" fn(*mut c_void, u64, u64, u64) -> u64;

/// `rustyjson_module` in runtime/runtime.h: the module, compiled for one kind of processor.
#[repr(C)]
pub struct Module {
    instance_size: usize,
    instantiate: unsafe extern "C" fn(*mut c_void),
    free: unsafe extern "C" fn(*mut c_void),
    memory: unsafe extern "C" fn(*mut c_void) -> *mut Memory,
    start: unsafe extern "C" fn(*const Module, *mut c_void) -> i32,
    run: unsafe extern "C" fn(*const Module, *mut c_void, u32, *const u64, *mut u64) -> i32,
    time_left: unsafe extern "C" fn(*mut Memory) -> u64,
    exports: [Call; 13],
}

#[cfg(guest)]
mod c {
    use super::Module;

    unsafe extern "C" {
        pub static rustyjson_module_baseline: Module;
        #[cfg(all(target_arch = "x86_64", not(one_module)))]
        pub static rustyjson_module_v2: Module;
    }
}

/// The module as this processor runs it best; `None` if the library was built without it.
pub fn module() -> Option<&'static Module> {
    #[cfg(feature = "replaceable")]
    return crate::replaceable::module();
    #[cfg(not(any(guest, feature = "replaceable")))]
    return None;
    #[cfg(all(guest, target_arch = "x86_64", not(one_module)))]
    if std::arch::is_x86_feature_detected!("sse4.2")
        && std::arch::is_x86_feature_detected!("ssse3")
        && std::arch::is_x86_feature_detected!("popcnt")
    {
        // SAFETY: a constant of C that nobody writes; the processor has all that it was compiled for.
        return Some(unsafe { &c::rustyjson_module_v2 });
    }
    #[cfg(guest)]
    // SAFETY: a constant of C that nobody writes. (The one module of RUSTYJSON_PROFILE=quick asks for a processor of 2009 or later.)
    Some(unsafe { &c::rustyjson_module_baseline })
}

/// An instance: linear memory, globals and a table. It belongs to one thread at a time.
pub struct Instance {
    module: &'static Module,
    instance: NonNull<c_void>,
    memory: NonNull<Memory>,
}

impl Instance {
    /// Makes one that may have this many bytes of linear memory.
    pub fn new(module: &'static Module, max_memory: usize) -> Result<Self, Trap> {
        let layout = layout(module);
        // SAFETY: the layout has a size: an instance is a C structure with members.
        let instance = unsafe { alloc_zeroed(layout) };
        let instance = NonNull::new(instance).unwrap_or_else(|| handle_alloc_error(layout)).cast();
        // SAFETY: `instance` has `instance_size` zeroed bytes; the function gives the address of a member.
        let memory = unsafe { NonNull::new_unchecked((module.memory)(instance.as_ptr())) };
        let mut made = Self { module, instance, memory };
        made.limit(max_memory, u64::MAX);
        // SAFETY: the instance is zeroed, as C wants it, and nobody else has it. A trap comes back as a number.
        match unsafe { (module.start)(module, instance.as_ptr()) } {
            0 => Ok(made),
            trap => Err(Trap::new(trap)),
        }
    }

    /// Sets the limits of the next calls: bytes of linear memory, and nanoseconds from the first look at the clock.
    pub fn limit(&mut self, max_memory: usize, timeout: u64) {
        let memory = self.limits();
        (memory.max_size, memory.denied) = (max_memory as u64, 0);
        (memory.timeout, memory.deadline) = (timeout, 0);
    }

    fn limits(&mut self) -> &mut Memory {
        // SAFETY: it is a member of the instance, which is ours as long as `self`.
        unsafe { self.memory.as_mut() }
    }

    /// Calls a function of the module.
    #[inline]
    pub fn call(&mut self, export: Export, arguments: [u64; 3]) -> Result<u64, Trap> {
        let mut result = 0;
        // SAFETY: the instance is ours and was made for this module; there are three arguments and room for a result. The module's code
        // touches only its instance and memory, checks time and stack, and comes back with a number when it traps.
        let trap = unsafe {
            (self.module.run)(self.module, self.instance.as_ptr(), export as u32, arguments.as_ptr(), &raw mut result)
        };
        if trap == 0 { Ok(result) } else { Err(Trap::new(trap)) }
    }

    /// Linear memory.
    #[inline]
    pub fn memory(&self) -> &[u8] {
        // SAFETY: `data` has `size` bytes that are initialised (zero at first), and stays where it is while no function of the
        // module runs, which needs `&mut self`.
        unsafe {
            let memory = self.memory.as_ref();
            std::slice::from_raw_parts(memory.data, memory.size as usize)
        }
    }

    /// Linear memory, to be written.
    #[inline]
    pub fn memory_mut(&mut self) -> &mut [u8] {
        let memory = self.limits();
        // SAFETY: as for `memory`.
        unsafe { std::slice::from_raw_parts_mut(memory.data, memory.size as usize) }
    }

    /// Nanoseconds until the call must be over; 0 when it must.
    pub fn time_left(&self) -> u64 {
        // SAFETY: the memory is ours, and the function reads and writes two of its numbers; nobody has a reference to them.
        unsafe { (self.module.time_left)(self.memory.as_ptr()) }
    }

    /// Whether the clock was read since the limits were set.
    pub fn has_begun(&self) -> bool {
        // SAFETY: as for `memory`.
        unsafe { self.memory.as_ref().deadline != 0 }
    }

    /// Whether it asked for more memory than it may have, since the limits were set.
    pub fn denied(&self) -> bool {
        // SAFETY: as for `memory`.
        unsafe { self.memory.as_ref().denied != 0 }
    }

    /// The module that it is an instance of.
    #[cfg(feature = "replaceable")]
    pub const fn module(&self) -> &'static Module {
        self.module
    }

    /// The most bytes of linear memory.
    pub fn max_memory(&self) -> usize {
        // SAFETY: as for `memory`.
        unsafe { self.memory.as_ref().max_size as usize }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the instance was made by this module, with this layout, and is dropped once. What a start that failed did not make is zero,
        // which C takes as nothing.
        unsafe {
            (self.module.free)(self.instance.as_ptr());
            dealloc(self.instance.as_ptr().cast(), layout(self.module));
        }
    }
}

fn layout(module: &Module) -> Layout {
    Layout::from_size_align(module.instance_size.max(16), 16).expect("an instance has some hundred bytes")
}
