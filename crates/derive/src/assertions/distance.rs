//! How far two texts are from each other (`assertions.md` §8.5).

/// Most cells that the comparison fills.
const MAX_CELLS: usize = 4_000_000;

/// The texts differ too much to be compared in bounded time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

/// Returns the Levenshtein distance with unit costs, over code points, divided
/// by the longer text's length: 0 for equal texts, 1 for altogether other ones.
///
/// # Errors
///
/// [`TooLarge`] when what differs is too long on both sides.
pub(super) fn relative_distance(left: &str, right: &str) -> Result<f64, TooLarge> {
    if left == right {
        return Ok(0.0);
    }
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let longest = left.len().max(right.len());
    let (left, right) = without_common_ends(&left, &right);
    let distance = if left.is_empty() || right.is_empty() {
        left.len().max(right.len())
    } else if left.len().saturating_mul(right.len()) > MAX_CELLS {
        return Err(TooLarge);
    } else {
        strsim::generic_levenshtein(&Points(left), &Points(right))
    };
    #[expect(
        clippy::cast_precision_loss,
        reason = "texts are far shorter than 2^53"
    )]
    Ok(distance as f64 / longest as f64)
}

fn without_common_ends<'a>(left: &'a [char], right: &'a [char]) -> (&'a [char], &'a [char]) {
    let start = left
        .iter()
        .zip(right)
        .take_while(|(left, right)| left == right)
        .count();
    let (left, right) = (&left[start..], &right[start..]);
    let end = left
        .iter()
        .rev()
        .zip(right.iter().rev())
        .take_while(|(left, right)| left == right)
        .count();
    (&left[..left.len() - end], &right[..right.len() - end])
}

/// Code points of a text, as the distance function iterates over them.
struct Points<'a>(&'a [char]);

impl<'b> IntoIterator for &'b Points<'_> {
    type Item = &'b char;
    type IntoIter = std::slice::Iter<'b, char>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_a_fraction_of_the_longer_text() {
        for (left, right, distance) in [
            ("abc", "abd", 1.0 / 3.0),
            ("kitten", "sitting", 3.0 / 7.0),
            ("", "abc", 1.0),
            ("🚢a", "a", 0.5),
            ("abab", "ab", 0.5),
            ("a", "a", 0.0),
        ] {
            assert_eq!(
                relative_distance(left, right),
                Ok(distance),
                "{left} {right}"
            );
        }
    }

    #[test]
    fn only_what_differs_counts_towards_the_limit() {
        let long = "a".repeat(50_000);
        assert_eq!(
            relative_distance(&long, &format!("{long}b")),
            Ok(1.0 / 50_001.0)
        );
        assert_eq!(
            relative_distance(&"a".repeat(2_001), &"b".repeat(2_000)),
            Err(TooLarge)
        );
    }
}
