//! The fast echo server; see `strandline_testkit::mcp::echo`.

fn main() {
    strandline_testkit::mcp::echo::main();
}
