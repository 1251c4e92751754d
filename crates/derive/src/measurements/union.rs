//! How long cited evidence took, overlaps counted once (`measurements.md` §4.1).

use strandline_contract::measurements::TimedSpan;

/// An interval of time, ms.
pub(super) type Interval = (f64, f64);

/// Returns a span's interval: both ends finite, and not reversed (§4, 4.).
pub(super) fn usable_interval(span: &TimedSpan<'_>) -> Option<Interval> {
    let start = span.started_at.or(span.start_ms)?;
    let end = span.ended_at.or(span.end_ms)?;
    (start.is_finite() && end.is_finite() && end >= start).then_some((start, end))
}

/// Returns the length of the union of intervals; `None` without any.
///
/// Additions happen in the order the spec gives, so that the sum is exact to
/// the bit.
pub(super) fn union_length(mut intervals: Vec<Interval>) -> Option<f64> {
    intervals.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut intervals = intervals.into_iter();
    let mut open = intervals.next()?;
    let mut total = 0.0;
    for next in intervals {
        if next.0 <= open.1 {
            open.1 = open.1.max(next.1);
        } else {
            total += open.1 - open.0;
            open = next;
        }
    }
    Some(total + (open.1 - open.0))
}
