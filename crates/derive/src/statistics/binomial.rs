//! The binomial distribution, as far as it is needed here.

/// Returns the chance of more than `count` successes in `trials` trials with
/// success rate `rate`; exact up to rounding.
///
/// Terms are summed from the one nearest to the mean outwards, so that the
/// number of terms grows with the square root of `trials` only.
pub(super) fn chance_above(count: u64, trials: u64, rate: f64) -> f64 {
    if count >= trials || rate <= 0.0 {
        return 0.0;
    }
    if rate >= 1.0 {
        return 1.0;
    }
    let mean = trials as f64 * rate;
    if (count as f64) < mean {
        // The other tail is the one whose terms fall off.
        return 1.0 - sum_downwards(count, trials, rate);
    }
    // More than `count` successes are fewer than `trials - count` failures.
    sum_downwards(trials - count - 1, trials, 1.0 - rate)
}

/// Sums the chances of `count`, `count - 1`, … successes; `count` lies below
/// the mean or next to it.
fn sum_downwards(count: u64, trials: u64, rate: f64) -> f64 {
    let odds = rate / (1.0 - rate);
    let mut term = log_chance(count, trials, rate).exp();
    let mut sum = term;
    for successes in (1..=count).rev() {
        term *= successes as f64 / ((trials - successes + 1) as f64 * odds);
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    sum.clamp(0.0, 1.0)
}

/// Returns the logarithm of the chance of exactly `count` successes.
fn log_chance(count: u64, trials: u64, rate: f64) -> f64 {
    let (successes, failures) = (count as f64, (trials - count) as f64);
    log_factorial(trials) - log_factorial(count) - log_factorial(trials - count)
        + successes * rate.ln()
        + failures * (-rate).ln_1p()
}

/// Returns ln n!: the sum for small n, else Stirling's series, which is exact
/// to rounding from there on.
fn log_factorial(n: u64) -> f64 {
    if n < 20 {
        return (2..=n).map(|factor| (factor as f64).ln()).sum();
    }
    let n = n as f64;
    let inverse = 1.0 / n;
    let square = inverse * inverse;
    let correction =
        inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    (n + 0.5) * n.ln() - n + 0.5 * (2.0 * std::f64::consts::PI).ln() + correction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pascal's triangle, one trial after the other.
    fn by_hand(count: u64, trials: u64, rate: f64) -> f64 {
        let mut chances = vec![1.0];
        for _ in 0..trials {
            let mut next = vec![0.0; chances.len() + 1];
            for (successes, chance) in chances.iter().enumerate() {
                next[successes] += chance * (1.0 - rate);
                next[successes + 1] += chance * rate;
            }
            chances = next;
        }
        chances.iter().skip(count as usize + 1).sum()
    }

    #[test]
    fn tails_equal_the_triangle() {
        for trials in [1, 2, 5, 19, 20, 21, 100, 400] {
            for rate in [1e-6, 0.01, 0.3, 0.5, 0.8, 0.999] {
                for count in [0, trials / 4, trials / 2, trials - 1, trials] {
                    let (exact, quick) = (
                        by_hand(count, trials, rate),
                        chance_above(count, trials, rate),
                    );
                    assert!(
                        (exact - quick).abs() < 1e-11,
                        "{count} of {trials} at {rate}: {exact} {quick}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_ends_of_the_scale_are_certain() {
        assert_eq!(chance_above(3, 5, 1.0), 1.0);
        assert_eq!(chance_above(5, 5, 1.0), 0.0);
        assert_eq!(chance_above(0, 5, 0.0), 0.0);
    }
}
