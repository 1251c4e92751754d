//! How often the 95 % intervals hold the true value.

use strandline_derive::statistics::{Sample, newcombe, wilson};

use super::random::Random;

const ROUNDS: u32 = 20_000;

fn sample(random: &mut Random, rate: f64, total: u64) -> Sample {
    Sample::new(random.passed(rate, total), total).expect("a sample")
}

fn share(mut holds: impl FnMut() -> bool) -> f64 {
    let held = (0..ROUNDS).filter(|_| holds()).count();
    held as f64 / f64::from(ROUNDS)
}

/// The Wilson interval holds the true rate about 95 times in 100 on average
/// over rates, and not much less often at any rate that is not extreme.
#[test]
fn the_wilson_interval_holds_the_true_rate() {
    let mut random = Random::new(1);
    for total in [5, 10, 30, 100] {
        let rates = [0.2, 0.35, 0.5, 0.65, 0.8, 0.9];
        let mut average = 0.0;
        for rate in rates {
            let held = share(|| {
                let interval = wilson(sample(&mut random, rate, total));
                (interval.lower..=interval.upper).contains(&rate)
            });
            assert!(held > 0.89, "{total} trials at {rate}: {held}");
            average += held / rates.len() as f64;
        }
        assert!((0.93..0.98).contains(&average), "{total}: {average}");
    }
}

/// The Newcombe interval holds the true difference; a difference of zero is
/// called a regression at most about 2.5 times in 100.
#[test]
fn the_newcombe_interval_holds_the_true_difference() {
    let mut random = Random::new(2);
    for (base, compared) in [(10, 10), (30, 30), (50, 20)] {
        for (from, to) in [(0.8, 0.8), (0.5, 0.5), (0.9, 0.6), (0.4, 0.7)] {
            let truth = to - from;
            let held = share(|| {
                let base = sample(&mut random, from, base);
                let difference = newcombe(base, sample(&mut random, to, compared));
                (difference.lower..=difference.upper).contains(&truth)
            });
            assert!(held > 0.925, "{from} of {base}, {to} of {compared}: {held}");
        }
        let called = share(|| {
            let base = sample(&mut random, 0.8, base);
            newcombe(base, sample(&mut random, 0.8, compared)).upper < 0.0
        });
        assert!(called < 0.04, "{base}, {compared}: {called}");
    }
}
