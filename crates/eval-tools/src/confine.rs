//! Keeps every path that a client names inside the project.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use strandline_report::escape;

use crate::failure::Failure;

/// Endings of suite files.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];
/// Longest path in a message.
const MAX_PATH: usize = 200;

/// A suite file inside the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SuitePath {
    /// Relative to the project's root, as it is shown and stored.
    pub(crate) shown: String,
    /// Canonical.
    pub(crate) file: PathBuf,
}

/// Finds the suite file that a client names, relative to the project's root,
/// which must be canonical.
///
/// # Errors
///
/// When the path is absolute, climbs, leads outside through a symbolic link,
/// or names nothing that could be a suite file.
pub(crate) fn suite_file(root: &Path, named: &str) -> Result<SuitePath, Failure> {
    let shown = escape::line(named, MAX_PATH);
    let refuse = |why: &str| {
        Failure::new(format!("`{shown}` is refused: {why}"))
            .hint("name a suite file relative to the project's root; `list_suites` lists them")
    };
    if named.trim().is_empty() {
        return Err(refuse("the path is empty"));
    }
    if named.contains('\0') {
        return Err(refuse("the path holds a NUL character"));
    }
    let path = Path::new(named);
    // A Windows path is no path here, and would be one elsewhere.
    let drive = named.as_bytes().get(1) == Some(&b':');
    if path.is_absolute() || drive || named.starts_with('\\') {
        return Err(refuse(
            "the path is absolute, and only files of the project are read",
        ));
    }
    let climbs =
        |component: Component<'_>| !matches!(component, Component::Normal(_) | Component::CurDir);
    if path.components().any(climbs) || named.split('\\').any(|part| part == "..") {
        return Err(refuse(
            "the path climbs with `..`, and only files of the project are read",
        ));
    }
    let ending = path.extension().and_then(|ending| ending.to_str());
    if !ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
        return Err(refuse("a suite file ends in `.yaml`, `.yml` or `.json`"));
    }
    let file = root
        .join(path)
        .canonicalize()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                Failure::new(format!("there is no file `{shown}` in the project"))
                    .hint("`list_suites` lists the project's suites")
            }
            _ => Failure::new(format!("cannot read `{shown}`: {error}")),
        })?;
    let Ok(inside) = file.strip_prefix(root) else {
        return Err(refuse(
            "it leads outside of the project through a symbolic link",
        ));
    };
    if !file.is_file() {
        return Err(refuse("it is no regular file"));
    }
    Ok(SuitePath {
        shown: inside.display().to_string(),
        file,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn project() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path().join("project");
        fs::create_dir_all(root.join("evals")).expect("makes directories");
        fs::write(root.join("evals/a.yaml"), "cases: []").expect("writes");
        fs::write(directory.path().join("outside.yaml"), "secret: 1").expect("writes");
        let root = root.canonicalize().expect("the root exists");
        (directory, root)
    }

    #[test]
    fn a_file_of_the_project_is_found() {
        let (_directory, root) = project();
        for named in ["evals/a.yaml", "./evals/./a.yaml", "evals//a.yaml"] {
            let found = suite_file(&root, named).expect("the file is inside");
            assert_eq!(found.shown, "evals/a.yaml");
            assert_eq!(found.file, root.join("evals/a.yaml"));
        }
    }

    #[test]
    fn a_path_that_leaves_the_project_is_refused_before_it_is_read() {
        let (directory, root) = project();
        let absolute = root.join("evals/a.yaml").display().to_string();
        let outside = directory.path().join("outside.yaml").display().to_string();
        for (named, why) in [
            ("../outside.yaml", "climbs"),
            ("evals/../../outside.yaml", "climbs"),
            ("evals/../evals/a.yaml", "climbs"),
            ("..\\outside.yaml", "climbs"),
            (absolute.as_str(), "absolute"),
            (outside.as_str(), "absolute"),
            ("C:\\outside.yaml", "absolute"),
            ("\\\\host\\share\\a.yaml", "absolute"),
            ("", "empty"),
            ("  ", "empty"),
            ("a\0.yaml", "NUL"),
            ("/etc/passwd", "absolute"),
            ("evals/a.yaml/../../../outside.yaml", "climbs"),
            ("evals", "ends in"),
            (".env", "ends in"),
        ] {
            let failure = suite_file(&root, named).expect_err("it is refused").text();
            assert!(failure.contains(why), "{named}: {failure}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_inside_the_project_only() {
        use std::os::unix::fs::symlink;
        let (directory, root) = project();
        symlink(root.join("evals/a.yaml"), root.join("inside.yaml")).expect("links");
        symlink(directory.path().join("outside.yaml"), root.join("out.yaml")).expect("links");
        symlink(directory.path(), root.join("up")).expect("links");
        symlink("/dev/null", root.join("null.yaml")).expect("links");
        assert!(suite_file(&root, "inside.yaml").is_ok());
        for named in ["out.yaml", "up/outside.yaml", "null.yaml"] {
            let failure = suite_file(&root, named)
                .expect_err("it leads outside")
                .text();
            assert!(failure.contains("symbolic link"), "{failure}");
        }
    }

    #[test]
    fn what_is_not_there_or_no_file_is_said_so() {
        let (_directory, root) = project();
        fs::create_dir(root.join("folder.yaml")).expect("makes a directory");
        let missing = suite_file(&root, "evals/b.yaml")
            .expect_err("missing")
            .text();
        assert!(missing.contains("no file"), "{missing}");
        let folder = suite_file(&root, "folder.yaml")
            .expect_err("a folder")
            .text();
        assert!(folder.contains("no regular file"), "{folder}");
    }
}
