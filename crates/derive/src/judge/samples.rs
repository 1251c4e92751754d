//! Several samples, one answer.

/// Tells whether more than half of the samples asked for can be used.
pub(super) fn enough(usable: usize, asked: u32) -> bool {
    u64::try_from(usable).is_ok_and(|usable| usable * 2 > u64::from(asked))
}

/// Returns the median; the mean of the middle two of an even number.
pub(super) fn median(scores: &[f64]) -> Option<f64> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(middle.checked_sub(1)?)?;
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_needs_a_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[0.3]), Some(0.3));
        assert_eq!(median(&[0.9, 0.1, 0.5]), Some(0.5));
        assert_eq!(median(&[0.25, 0.75]), Some(0.5));
    }

    #[test]
    fn half_is_not_enough() {
        assert!(enough(1, 1) && enough(2, 3));
        assert!(!enough(0, 1) && !enough(1, 2) && !enough(1, 3));
    }
}
