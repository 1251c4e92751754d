//! The `strandline` binary.

fn main() -> std::process::ExitCode {
    strandline_cli::main_impl()
}
