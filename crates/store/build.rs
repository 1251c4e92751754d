//! Embeds migrations anew when one is added.
#![expect(clippy::print_stdout, reason = "how a build script speaks to cargo")]

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
