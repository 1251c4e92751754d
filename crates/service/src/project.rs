//! A project: the directory that a caller works in, its store, and which paths
//! may be named.

use std::{
    io,
    path::{Path, PathBuf},
};

use strandline_contract::exit::ExitCode;

use crate::Failure;

/// Directory of a project's own files.
pub const PROJECT_DIRECTORY: &str = ".strandline";
/// The store's file name in it.
const FILE: &str = "strandline.db";

/// Returns the store of the project that a directory belongs to: the nearest
/// one above, else a new one in the directory itself.
#[must_use]
pub fn store_of(here: &Path) -> PathBuf {
    let project = here
        .ancestors()
        .find(|directory| directory.join(PROJECT_DIRECTORY).join(FILE).is_file())
        .unwrap_or(here);
    project.join(PROJECT_DIRECTORY).join(FILE)
}

/// A directory to which a caller from outside is confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    root: PathBuf,
}

impl Project {
    /// Makes the project of a directory.
    ///
    /// # Errors
    ///
    /// When the directory is missing, no directory, or cannot be read.
    pub fn open(directory: &Path) -> Result<Self, Failure> {
        let cannot = |why: &dyn std::fmt::Display| {
            Failure::new(
                ExitCode::Setup,
                format_args!("cannot work in `{}`: {why}", directory.display()),
            )
        };
        let root = directory.canonicalize().map_err(|error| cannot(&error))?;
        if !root.is_dir() {
            return Err(cannot(&"it is no directory"));
        }
        Ok(Self { root })
    }

    /// Returns the directory, absolute and without links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the existing file that a path names, absolute and without links;
    /// relative paths are taken from the project's directory.
    ///
    /// # Errors
    ///
    /// When it is missing, or lies outside the project: by itself, by `..`, or
    /// through a link.
    pub fn file(&self, path: &Path) -> Result<PathBuf, Failure> {
        let shown = path.display();
        let file = self.root.join(path).canonicalize().map_err(|error| {
            let why = match error.kind() {
                io::ErrorKind::NotFound => "there is no such file".to_owned(),
                _ => error.to_string(),
            };
            Failure::usage(format_args!("cannot read `{shown}`: {why}"))
        });
        // Whether a file outside exists is nobody's business here.
        let outside = || {
            Failure::usage(format_args!(
                "`{shown}` lies outside the project `{}`",
                self.root.display()
            ))
            .hint("name a file below the project's directory, relative to it")
        };
        let file = match file {
            Ok(file) => file,
            Err(failure) => {
                let named = std::path::absolute(self.root.join(path)).unwrap_or_default();
                let climbs = path
                    .components()
                    .any(|part| part == std::path::Component::ParentDir);
                return Err(if climbs || !named.starts_with(&self.root) {
                    outside()
                } else {
                    failure
                });
            }
        };
        if !file.starts_with(&self.root) {
            return Err(outside());
        }
        if !file.is_file() {
            return Err(Failure::usage(format_args!("`{shown}` is no file")));
        }
        Ok(file)
    }

    /// Returns a path relative to the project's directory, with `/` between
    /// its parts.
    #[must_use]
    pub fn relative(&self, file: &Path) -> String {
        let relative = file.strip_prefix(&self.root).unwrap_or(file);
        let parts: Vec<_> = relative
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect();
        parts.join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_stays_in_its_project() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path().join("project");
        std::fs::create_dir_all(root.join("evals")).expect("makes directories");
        std::fs::write(root.join("evals/a.yaml"), "").expect("writes");
        std::fs::write(directory.path().join("secret"), "").expect("writes");
        let project = Project::open(&root).expect("opens");
        let file = project.file(Path::new("evals/a.yaml")).expect("is inside");
        assert_eq!(project.relative(&file), "evals/a.yaml");
        assert!(project.file(&file).is_ok());
        let refused = |path: &Path| project.file(path).expect_err("is refused").message;
        for outside in [
            "../secret",
            "../missing",
            "evals/../../secret",
            "/etc/passwd",
            "/surely/missing",
        ] {
            let message = refused(Path::new(outside));
            assert!(message.contains("outside the project"), "{message}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../secret", root.join("link")).expect("links");
            assert!(refused(Path::new("link")).contains("outside the project"));
        }
        assert!(refused(Path::new("evals")).contains("no file"));
        assert!(refused(Path::new("evals/b.yaml")).contains("no such file"));
    }

    #[test]
    fn the_nearest_store_above_is_the_projects_own() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let below = directory.path().join("suites/more");
        std::fs::create_dir_all(&below).expect("makes directories");
        let own = |project: &Path| project.join(PROJECT_DIRECTORY).join(FILE);
        assert_eq!(store_of(&below), own(&below));
        let above = own(directory.path());
        std::fs::create_dir(directory.path().join(PROJECT_DIRECTORY)).expect("makes a directory");
        std::fs::write(&above, "").expect("writes");
        assert_eq!(store_of(&below), above);
    }
}
