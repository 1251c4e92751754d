//! The scripted model's turns (ours): the shape is read by [`Script`], its
//! problems become findings at their places.

use strandline_contract::script::{Script, Segment};

use super::{At, Check, Path};

pub(super) fn script(check: &mut Check, at: At<'_>) {
    let Err(problems) = Script::parse(&at.node.to_json()) else {
        return;
    };
    for problem in problems {
        report(check, at, &problem.path, &problem.message);
    }
}

/// Walks down to the place of a problem and reports it there.
fn report(check: &mut Check, at: At<'_>, rest: &[Segment], message: &str) {
    let Some((first, rest)) = rest.split_first() else {
        check.report(at, message);
        return;
    };
    let (path, node) = match first {
        Segment::Key(key) => (Path::Key(at.path, key), at.node.get(key)),
        Segment::Index(index) => (
            Path::Index(at.path, *index),
            at.node.items().get(*index).map(|item| &item.node),
        ),
    };
    // A missing member is reported at its owner's place.
    let node = node.map_or(at.node, AsRef::as_ref);
    report(check, At { node, path: &path }, rest, message);
}
