//! Finds the test programs of this crate from the tests of another.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

/// Returns the path of a test program (`strandline-faulty-mcp`,
/// `strandline-echo-mcp`), built first when it is missing or out of date.
///
/// # Panics
///
/// Panics when the program cannot be built.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let directory = target_directory();
    let path = directory.join(name);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = modified(&path);
    if built.is_none()
        || built < newest(&sources.join("src")).max(modified(&sources.join("Cargo.toml")))
    {
        build(name, &directory);
    }
    assert!(path.exists(), "building did not make {}", path.display());
    path
}

/// Returns the directory of the profile that the running test was built in.
fn target_directory() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    test.ancestors()
        .find(|directory| directory.join("deps").is_dir())
        .expect("tests lie below a profile directory")
        .to_owned()
}

fn build(name: &str, directory: &Path) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build
        .args([
            "build",
            "--quiet",
            "--package",
            "strandline-testkit",
            "--bin",
            name,
        ])
        .arg("--manifest-path")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    if let Some(target) = directory.parent() {
        build.arg("--target-dir").arg(target);
    }
    if directory.ends_with("release") {
        build.arg("--release");
    }
    let status = build.status().expect("cargo runs");
    assert!(status.success(), "building {name} failed");
}

fn newest(directory: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(directory).ok()?;
    entries
        .flatten()
        .map(|entry| {
            let path = entry.path();
            if path.is_dir() {
                newest(&path)
            } else {
                modified(&path)
            }
        })
        .max()?
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}
