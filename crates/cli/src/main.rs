//! The `strandline` binary.

/// Trials allocate and free many small values on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    strandline_cli::main_impl()
}
