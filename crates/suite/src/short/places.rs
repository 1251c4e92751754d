//! Where the parts of an expanded file were written.

use crate::finding::{Finding, Segment, pointer};

/// Paths in the dialect file and the paths they come from.
#[derive(Debug, Default)]
pub(crate) struct Places {
    places: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    expanded: Vec<Segment>,
    written: Vec<Segment>,
    /// The written value is one value: nothing below it has a path.
    whole: bool,
}

impl Places {
    /// Notes that everything at and below a path was written elsewhere.
    pub(super) fn moved(&mut self, expanded: Vec<Segment>, written: Vec<Segment>) {
        self.places.push(Place {
            expanded,
            written,
            whole: false,
        });
    }

    /// Notes that a value was made from one written value.
    pub(super) fn made(&mut self, expanded: Vec<Segment>, written: Vec<Segment>) {
        self.places.push(Place {
            expanded,
            written,
            whole: true,
        });
    }

    /// Takes a finding back to where it was written.
    pub(crate) fn take_back(&self, finding: &mut Finding) {
        let place = self
            .places
            .iter()
            .filter(|place| finding.path.starts_with(&place.expanded))
            .max_by_key(|place| place.expanded.len());
        let Some(place) = place else { return };
        let mut path = place.written.clone();
        if !place.whole {
            path.extend_from_slice(&finding.path[place.expanded.len()..]);
        }
        finding.pointer = pointer(&path);
        finding.path = path;
    }
}

/// Makes a path of keys and indices.
macro_rules! place {
    ( $( $segment:expr ),* $(,)? ) => {
        vec![ $( $crate::short::places::IntoSegment::segment($segment) ),* ]
    };
}
pub(super) use place;

/// What a path can be made of.
pub(super) trait IntoSegment {
    fn segment(self) -> Segment;
}

impl IntoSegment for &str {
    fn segment(self) -> Segment {
        Segment::Key(self.to_owned())
    }
}

impl IntoSegment for usize {
    fn segment(self) -> Segment {
        Segment::Index(self)
    }
}
