//! The allocator of everything that Rust allocates, chosen by cargo feature; the system's when none is.

#[cfg(feature = "jemalloc")]
mod chosen {
    #[global_allocator]
    static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
    pub const NAME: &str = "jemalloc";
}

#[cfg(all(feature = "snmalloc", not(feature = "jemalloc")))]
mod chosen {
    #[global_allocator]
    static ALLOCATOR: snmalloc_rs::SnMalloc = snmalloc_rs::SnMalloc;
    pub const NAME: &str = "snmalloc";
}

#[cfg(all(feature = "mimalloc", not(feature = "jemalloc"), not(feature = "snmalloc")))]
mod chosen {
    #[global_allocator]
    static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
    pub const NAME: &str = "mimalloc";
}

#[cfg(not(any(feature = "mimalloc", feature = "jemalloc", feature = "snmalloc")))]
mod chosen {
    pub const NAME: &str = "system";
}

pub use chosen::NAME;
