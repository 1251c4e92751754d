//! Pinned doubles of `verdict.md` §9–§11.

use serde_json::json;
use strandline_contract::words::RegressionVerdict;
use strandline_derive::{
    statistics::{
        GradedTrial, Sample, Z95, assess_regression, assess_regression_with, flaky_cases, newcombe,
        wilson,
    },
    verdict::{
        case_passes_needed, derive_trial_statistics, pass_at_k, pass_hat_k, pass_rate_interval,
        validate_trial_statistics,
    },
};

#[test]
fn estimates_are_bit_exact() {
    type Row = (u64, u64, i64, Option<(f64, f64)>, Option<(f64, f64)>);
    let five = Some((0.230_724_281_276_012_97, 0.882_379_225_767_352_1));
    let expected: [Row; 13] = [
        (5, 3, 1, Some((0.6, 0.6)), five),
        (5, 3, 2, Some((0.9, 0.3)), five),
        (5, 3, 3, Some((1.0, 0.099_999_999_999_999_99)), five),
        (5, 3, 5, Some((1.0, 0.0)), five),
        (
            10,
            7,
            3,
            Some((0.991_666_666_666_666_7, 0.291_666_666_666_666_63)),
            Some((0.396_778_147_461_145_3, 0.892_208_732_593_698_9)),
        ),
        (
            20,
            10,
            10,
            Some((0.999_994_587_455_887_8, 0.000_005_412_544_112_234_513)),
            Some((0.299_298_008_198_212_4, 0.700_701_991_801_787_6)),
        ),
        (
            100,
            50,
            25,
            Some((0.999_999_999_478_760_6, 5.212_394_321_635_691e-10)),
            Some((0.403_831_530_365_995_6, 0.596_168_469_634_004_4)),
        ),
        (
            100,
            99,
            50,
            Some((1.0, 0.499_999_999_999_999_56)),
            Some((0.945_513_803_821_294_6, 0.998_232_567_935_859_3)),
        ),
        (
            263,
            81,
            1,
            Some((0.307_984_790_874_524_7, 0.307_984_790_874_524_74)),
            Some((0.255_288_519_878_274_2, 0.366_209_576_982_800_04)),
        ),
        (
            7,
            7,
            7,
            Some((1.0, 1.0)),
            Some((0.645_669_564_933_312_6, 1.0)),
        ),
        (
            6,
            0,
            3,
            Some((0.0, 0.0)),
            Some((0.0, 0.390_334_287_902_165_3)),
        ),
        (
            3,
            2,
            4,
            None,
            Some((0.207_659_600_802_047_82, 0.938_508_055_279_603_8)),
        ),
        (0, 0, 1, None, None),
    ];
    for (n, c, k, estimates, interval) in expected {
        let at = pass_at_k(n, c, k).expect("in the domain");
        let hat = pass_hat_k(n, c, k).expect("in the domain");
        assert_eq!(at.zip(hat), estimates, "{c}/{n}, k {k}");
        let found = pass_rate_interval(n, c).expect("in the domain");
        let found = found.map(|interval| (interval.lower, interval.upper));
        assert_eq!(found, interval, "{c}/{n}");
    }
    // One estimate may differ from the other by an ulp at k = 1.
    assert_eq!(pass_at_k(148, 15, 1), Ok(Some(0.101_351_351_351_351_32)));
    assert_eq!(pass_hat_k(148, 15, 1), Ok(Some(0.101_351_351_351_351_36)));
}

#[test]
fn estimates_outside_their_domain_are_refused_and_k_is_not_clamped() {
    assert!(pass_at_k(3, 4, 1).is_err());
    assert!(pass_hat_k(3, 4, 1).is_err());
    assert!(pass_rate_interval(3, 4).is_err());
    for k in [-1, 0, 4, i64::MAX] {
        assert_eq!(pass_at_k(3, 2, k), Ok(None));
        assert_eq!(pass_hat_k(3, 2, k), Ok(None));
    }
}

#[test]
fn passes_needed_follow_the_verdicts_own_comparison() {
    let expected = [
        (5.0, 0.8, 4),
        (3.0, 0.8, 3),
        (2.0, 0.5, 1),
        (10.0, 0.3, 3),
        (10.0, 0.7, 7),
        (7.0, 0.3, 3),
        (3.0, 0.5, 2),
        (10.0, 0.9999, 10),
        (100.0, 0.29, 29),
        (100.0, 0.57, 57),
        (3.9, 0.5, 2),
        (3.0, 1.7, 3),
        (0.5, 0.5, 0),
        (3.0, f64::INFINITY, 0),
        (f64::NAN, 0.5, 0),
        (-1.0, 0.5, 0),
        (3.0, 0.0, 0),
        (3.0, f64::NAN, 0),
    ];
    for (trials, threshold, passes) in expected {
        assert_eq!(
            case_passes_needed(trials, threshold),
            passes,
            "{trials}, {threshold}"
        );
    }
    // Halving finds what counting up finds.
    for trials in 1..=120_u32 {
        for step in 0..=200_u32 {
            let (n, threshold) = (f64::from(trials), f64::from(step) / 200.0);
            let counted = (0..=trials)
                .find(|passes| f64::from(*passes) / n >= threshold || *passes == trials);
            let expected = counted.filter(|_| threshold > 0.0).unwrap_or(0);
            assert_eq!(case_passes_needed(n, threshold), u64::from(expected));
        }
    }
}

fn sample(passed: u64, total: u64) -> Sample {
    Sample::new(passed, total).expect("in the domain")
}

#[test]
fn comparisons_are_bit_exact() {
    use RegressionVerdict::{InsufficientData, NoRegression, Regression};
    let expected = [
        (
            (8, 10),
            (9, 10),
            0.099_999_999_999_999_98,
            -0.236_224_990_908_306_73,
            0.420_536_441_641_021_83,
            NoRegression,
        ),
        (
            (45, 50),
            (40, 50),
            -0.099_999_999_999_999_98,
            -0.242_097_157_814_087_25,
            0.043_431_785_912_092_04,
            NoRegression,
        ),
        (
            (0, 10),
            (10, 10),
            1.0,
            0.607_509_350_430_524_2,
            1.0,
            NoRegression,
        ),
        (
            (10, 10),
            (0, 10),
            -1.0,
            -1.0,
            -0.607_509_350_430_524_2,
            Regression,
        ),
        (
            (1, 3),
            (2, 3),
            0.333_333_333_333_333_3,
            -0.315_800_684_437_491_26,
            0.717_775_111_924_084,
            InsufficientData,
        ),
        (
            (5, 10),
            (5, 10),
            0.0,
            -0.372_513_623_819_914_3,
            0.372_513_623_819_914_3,
            NoRegression,
        ),
        (
            (56, 70),
            (48, 80),
            -0.200_000_000_000_000_07,
            -0.333_872_654_036_905_9,
            -0.052_431_472_402_364_815,
            Regression,
        ),
        (
            (5, 5),
            (0, 5),
            -1.0,
            -1.0,
            -0.385_549_005_690_343_56,
            Regression,
        ),
        (
            (4, 4),
            (0, 4),
            -1.0,
            -1.0,
            -0.307_189_735_003_608_7,
            InsufficientData,
        ),
        (
            (0, 0),
            (1, 1),
            1.0,
            -0.276_543_767_567_423_4,
            1.0,
            InsufficientData,
        ),
        (
            (9990, 10000),
            (9940, 10000),
            -0.005_000_000_000_000_004_4,
            -0.006_774_643_125_148_831,
            -0.003_422_341_711_235_130_4,
            NoRegression,
        ),
    ];
    for ((bp, bt), (cp, ct), delta, lower, upper, verdict) in expected {
        let assessment = assess_regression(sample(bp, bt), sample(cp, ct));
        let difference = assessment.difference;
        assert_eq!(
            (difference.delta, difference.lower, difference.upper),
            (delta, lower, upper),
            "{bp}/{bt} {cp}/{ct}"
        );
        assert_eq!(difference, newcombe(sample(bp, bt), sample(cp, ct)));
        assert_eq!(assessment.verdict, verdict, "{bp}/{bt} {cp}/{ct}");
        assert_eq!(
            assessment.reason.is_some(),
            verdict == InsufficientData,
            "{:?}",
            assessment.reason
        );
    }
    // An empty side never suffices, whatever the floor.
    let empty = assess_regression_with(sample(0, 0), sample(0, 1), 0, 0.0, Z95);
    assert_eq!(empty.verdict, InsufficientData);
}

#[test]
fn wilson_intervals_are_bit_exact() {
    let expected = [
        (0, 1, 0.0, 0.793_450_685_622_762_6),
        (1, 1, 0.206_549_314_377_237_45, 1.0),
        (1, 2, 0.094_531_205_734_230_74, 0.905_468_794_265_769_3),
        (1, 3, 0.061_491_944_720_396_26, 0.792_340_399_197_952_3),
        (5, 10, 0.236_593_090_512_564, 0.763_406_909_487_436_1),
        (20, 20, 0.838_874_841_947_180_8, 1.0),
        (100, 100, 0.963_006_501_793_014_3, 1.0),
        (0, 0, 0.0, 1.0),
    ];
    for (passed, total, lower, upper) in expected {
        let interval = wilson(sample(passed, total));
        assert_eq!(
            (interval.lower, interval.upper),
            (lower, upper),
            "{passed}/{total}"
        );
        assert!(interval.lower.is_sign_positive());
    }
    assert_eq!(Z95.to_bits(), 0x3fff_5c03_31ee_ff84);
    assert_eq!(Sample::new(2, 1), None);
    // The raw formula may leave a rest that the report pins to 0.
    assert_eq!(wilson(sample(0, 20)).lower, 1.387_778_780_781_445_7e-17);
    let pinned = pass_rate_interval(20, 0)
        .expect("in the domain")
        .expect("trials");
    assert_eq!(pinned.lower, 0.0);
}

#[test]
fn flaky_cases_are_sorted_by_utf16_units() {
    let trials = [
        ("\u{fb01}", true),
        ("\u{fb01}", false),
        ("😀", false),
        ("😀", true),
        ("😀", true),
        ("steady", true),
        ("broken", false),
    ];
    let flaky = flaky_cases(trials.map(|(case_key, passed)| GradedTrial { case_key, passed }));
    let told: Vec<_> = flaky
        .iter()
        .map(|case| (case.case_key, case.total, case.passed, case.failed))
        .collect();
    assert_eq!(told, [("😀", 3, 2, 1), ("\u{fb01}", 2, 1, 1)]);
}

#[test]
fn stored_statistics_must_be_what_their_counts_give() {
    let rows = json!([{"caseId": "a", "eligibleTrials": 4, "passedTrials": 3, "k": 4,
        "passAtK": 1, "passHatK": 0.0,
        "passRateInterval": {"confidence": 0.95, "lower": 0.300_641_842_582_401_84,
            "upper": 0.954_412_739_190_299_5}}]);
    let block = json!({"unit": "caseVariant", "eligibleTrials": 4, "passedTrials": 3,
        "cases": rows});
    assert!(validate_trial_statistics(&block, None).is_ok());
    let empty = json!({"unit": "caseVariant", "eligibleTrials": 0, "passedTrials": 0, "cases": []});
    assert!(validate_trial_statistics(&empty, None).is_ok());

    let refused = |pointer: &str, value: serde_json::Value, path: &str| {
        let mut changed = block.clone();
        *changed.pointer_mut(pointer).expect("a member") = value;
        let violation = validate_trial_statistics(&changed, None).expect_err(pointer);
        assert_eq!(violation.path, path, "{violation}");
    };
    refused("/unit", json!("trial"), "unit");
    refused("/eligibleTrials", json!(5), "eligibleTrials");
    refused("/passedTrials", json!(null), "passedTrials");
    refused("/cases", json!({}), "cases");
    refused("/cases/0/caseId", json!("a b"), "cases[0].caseId");
    refused("/cases/0/passedTrials", json!(5), "cases[0].passedTrials");
    refused("/cases/0/k", json!(3), "cases[0]");
    refused("/cases/0/passAtK", json!(0.999), "cases[0]");
    refused("/cases/0/passHatK", json!(null), "cases[0]");
    refused("/cases/0/passRateInterval/lower", json!(0.3), "cases[0]");
    refused("/cases/0/passRateInterval", json!(null), "cases[0]");
    refused(
        "/cases/0/passRateInterval/confidence",
        json!(0.9),
        "cases[0]",
    );
    let mut without = block.clone();
    without["cases"][0]
        .as_object_mut()
        .expect("a row")
        .remove("passAtK");
    assert!(validate_trial_statistics(&without, None).is_err());
}

/// Counts of a stored block are bounded only by 2^53.
#[test]
fn huge_stored_counts_are_refused_in_no_time() {
    let huge = 9_007_199_254_740_991_u64;
    for passed in [0, 1, huge - 1, huge] {
        let block = json!({"unit": "caseVariant", "eligibleTrials": huge, "passedTrials": passed,
            "cases": [{"caseId": "a", "eligibleTrials": huge, "passedTrials": passed, "k": huge,
                "passAtK": 0.5, "passHatK": 0.5, "passRateInterval": null}]});
        assert!(validate_trial_statistics(&block, None).is_err());
    }
}

#[test]
fn statistics_must_belong_to_their_decision() {
    let one = super::notation::case("a@m[2, 0.5] PF");
    let other = super::notation::case("a@n[2, 0.5] PF");
    let decide = |case| {
        let policy = strandline_contract::verdict::ValidityPolicy::default();
        strandline_derive::verdict::derive_decision(&policy, &[case]).expect("a decision")
    };
    let (one, other) = (decide(one), decide(other));
    let block = serde_json::to_value(derive_trial_statistics(&one)).expect("JSON");
    assert!(validate_trial_statistics(&block, Some(&one)).is_ok());
    let violation = validate_trial_statistics(&block, Some(&other)).expect_err("another variant");
    assert_eq!(violation.path, "cases[0]");
}
