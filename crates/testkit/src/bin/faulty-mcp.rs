//! The fault-injecting MCP server; see `strandline_testkit::mcp::faulty`.

fn main() {
    strandline_testkit::mcp::faulty::main();
}
