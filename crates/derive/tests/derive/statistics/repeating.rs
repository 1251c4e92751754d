//! What repeating until decided promises: bounded wrong decisions, and few
//! trials where the answer is plain.

use strandline_contract::{sequential::SequentialSettings, words::SequentialDecision};
use strandline_derive::statistics::sequential::SequentialTest;

use super::random::Random;

const ROUNDS: u32 = 8_000;
const SETTINGS: SequentialSettings = SequentialSettings {
    alpha: 0.05,
    beta: 0.05,
    indifference: 0.1,
    max_trials: 50,
};

/// What became of many cases with the same true pass rate.
#[derive(Debug, Default)]
struct Shares {
    meets: f64,
    misses: f64,
    undecided: f64,
    trials: f64,
}

/// Repeats a case as the runner does: a first batch, then as many trials at
/// once as the test asks for.
fn repeat(test: &SequentialTest, rate: f64, first: u64, random: &mut Random) -> Shares {
    let mut shares = Shares::default();
    for _ in 0..ROUNDS {
        let mut passed = random.passed(rate, first);
        let mut total = first;
        loop {
            let more = test.next_batch(passed, total - passed, total);
            if more == 0 {
                break;
            }
            passed += random.passed(rate, more);
            total += more;
        }
        match test.decide(passed, total - passed) {
            SequentialDecision::Meets => shares.meets += 1.0,
            SequentialDecision::Misses => shares.misses += 1.0,
            SequentialDecision::Undecided => shares.undecided += 1.0,
        }
        shares.trials += total as f64;
    }
    let rounds = f64::from(ROUNDS);
    Shares {
        meets: shares.meets / rounds,
        misses: shares.misses / rounds,
        undecided: shares.undecided / rounds,
        trials: shares.trials / rounds,
    }
}

/// Three standard errors of a share at the bound.
fn slack(bound: f64) -> f64 {
    3.0 * (bound * (1.0 - bound) / f64::from(ROUNDS)).sqrt()
}

#[test]
fn wrong_decisions_stay_within_their_bounds() {
    let mut random = Random::new(1945);
    for (alpha, beta) in [(0.05, 0.05), (0.01, 0.2)] {
        for threshold in [0.3, 0.5, 0.8, 0.95, 1.0] {
            for first in [1, 5, 10] {
                let settings = SequentialSettings {
                    alpha,
                    beta,
                    max_trials: 100,
                    ..SETTINGS
                };
                let test = SequentialTest::new(threshold, &settings);
                let bad = repeat(&test, test.lower(), first, &mut random);
                assert!(
                    bad.meets <= alpha + slack(alpha),
                    "{threshold} {first}: {bad:?}"
                );
                let good = repeat(&test, test.upper(), first, &mut random);
                assert!(
                    good.misses <= beta + slack(beta),
                    "{threshold} {first}: {good:?}"
                );
                // Outside the region the bounds hold all the more.
                let worse = repeat(&test, test.lower() / 2.0, first, &mut random);
                assert!(worse.meets <= alpha, "{threshold} {first}: {worse:?}");
            }
        }
    }
}

#[test]
fn plain_cases_are_decided_with_few_trials() {
    let mut random = Random::new(1947);
    let test = SequentialTest::new(0.8, &SETTINGS);
    let perfect = repeat(&test, 1.0, 5, &mut random);
    assert_eq!((perfect.meets, perfect.trials), (1.0, 12.0), "{perfect:?}");
    let broken = repeat(&test, 0.0, 5, &mut random);
    assert_eq!((broken.misses, broken.trials), (1.0, 5.0), "{broken:?}");
    let good = repeat(&test, 0.95, 5, &mut random);
    assert!(good.meets > 0.95 && good.trials < 25.0, "{good:?}");
    let bad = repeat(&test, 0.4, 5, &mut random);
    assert!(bad.misses > 0.99 && bad.trials < 12.0, "{bad:?}");
}

/// Inside the region the maximum ends what repeating cannot decide.
#[test]
fn a_case_on_its_threshold_may_stay_undecided() {
    let mut random = Random::new(7);
    let test = SequentialTest::new(0.8, &SETTINGS);
    let edge = repeat(&test, 0.82, 5, &mut random);
    assert!(edge.undecided > 0.1 && edge.trials < 50.0, "{edge:?}");
}

#[test]
fn the_forecast_is_what_happens() {
    let mut random = Random::new(1939);
    for (threshold, rate) in [(0.8, 0.8), (0.8, 0.95), (0.5, 0.6), (1.0, 0.97)] {
        let test = SequentialTest::new(threshold, &SETTINGS);
        let forecast = test.forecast(rate, 0, 0, 50);
        let total = forecast.meets + forecast.misses + forecast.undecided;
        assert!((total - 1.0).abs() < 1e-12, "{forecast:?}");
        let mut seen = Shares::default();
        for _ in 0..ROUNDS {
            let (mut passed, mut failed) = (0, 0);
            while test.next_batch(passed, failed, passed + failed) > 0 {
                if random.passes(rate) {
                    passed += 1;
                } else {
                    failed += 1;
                }
            }
            seen.trials += (passed + failed) as f64 / f64::from(ROUNDS);
            if test.decide(passed, failed) == SequentialDecision::Meets {
                seen.meets += 1.0 / f64::from(ROUNDS);
            }
        }
        assert!(
            (seen.meets - forecast.meets).abs() < 0.02,
            "{threshold} {rate}: {seen:?} {forecast:?}"
        );
        assert!(
            (seen.trials - forecast.expected_trials).abs() < 0.5,
            "{threshold} {rate}: {seen:?} {forecast:?}"
        );
    }
}

#[test]
fn no_trial_of_a_batch_is_superfluous() {
    for threshold in [0.2, 0.5, 0.8, 0.9, 1.0] {
        let test = SequentialTest::new(threshold, &SETTINGS);
        for total in 0..50 {
            for passed in 0..=total {
                let failed = total - passed;
                let batch = test.next_batch(passed, failed, total);
                assert!(total + batch <= 50);
                // Whatever the first trials of a batch show, the last one is
                // still needed.
                for fewer in 0..batch {
                    for more in 0..=fewer {
                        assert_eq!(
                            test.decide(passed + more, failed + fewer - more),
                            SequentialDecision::Undecided,
                            "{threshold}: {passed}/{total}, {more} of {fewer} of {batch}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_decision_is_never_against_the_case_verdict() {
    for threshold in [0.0, 0.05, 0.3, 0.5, 0.8, 0.95, 1.0] {
        let test = SequentialTest::new(threshold, &SETTINGS);
        for total in 1..=100_u64 {
            for passed in 0..=total {
                let meets = passed as f64 / total as f64 >= threshold;
                let against = if meets {
                    SequentialDecision::Misses
                } else {
                    SequentialDecision::Meets
                };
                assert_ne!(test.decide(passed, total - passed), against);
            }
        }
    }
}

#[test]
fn the_ends_of_the_scale_are_thresholds_too() {
    let always = SequentialTest::new(1.0, &SETTINGS);
    assert_eq!(always.decide(20, 1), SequentialDecision::Misses);
    assert_eq!(always.fewest_passes(0, 0), Some(29));
    assert_eq!(always.fewest_passes(0, 1), None);
    let never = SequentialTest::new(0.0, &SETTINGS);
    assert_eq!(never.decide(0, 0), SequentialDecision::Undecided);
    assert_eq!(never.decide(0, 1), SequentialDecision::Meets);
    assert_eq!(never.next_batch(0, 3, 3), 0);
}

#[test]
fn the_outlook_counts_what_is_left() {
    let test = SequentialTest::new(0.8, &SETTINGS);
    let outlook = test.outlook(5, 0, 5).expect("an outlook");
    assert_eq!(outlook.fewest_passes, Some(7));
    assert_eq!(outlook.trials_left, 45);
    assert_eq!(outlook.expected_trials, Some(7.0));
    assert_eq!(outlook.undecided_chance, Some(0.0));
    assert_eq!(test.outlook(12, 0, 12), None);
    let unmeasured = test.outlook(0, 0, 3).expect("an outlook");
    assert_eq!(unmeasured.expected_trials, None);
    assert_eq!(unmeasured.trials_left, 47);
}

#[test]
fn the_nearest_decision_is_the_first_of_a_scan() {
    for threshold in [0.05, 0.5, 0.8, 1.0] {
        let test = SequentialTest::new(threshold, &SETTINGS);
        for passed in 0..=30 {
            for failed in 0..=10 {
                let scan = |decision, step: (u64, u64)| {
                    (0..2_000_u64).find(|more| {
                        test.decide(passed + more * step.0, failed + more * step.1) == decision
                    })
                };
                assert_eq!(
                    test.fewest_passes(passed, failed),
                    scan(SequentialDecision::Meets, (1, 0)),
                    "{threshold}: {passed}, {failed}"
                );
                assert_eq!(
                    test.fewest_failures(passed, failed),
                    scan(SequentialDecision::Misses, (0, 1)),
                    "{threshold}: {passed}, {failed}"
                );
            }
        }
    }
}
