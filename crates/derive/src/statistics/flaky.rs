//! Cases that both passed and failed within one run (`verdict.md` §11.4).

use std::collections::HashMap;

/// One graded trial of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GradedTrial<'a> {
    /// What names the case (and variant, where the caller wants it).
    pub case_key: &'a str,
    /// Whether it passed.
    pub passed: bool,
}

/// A case with at least one pass and one failure; informational, gates nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlakyCase<'a> {
    /// What names the case.
    pub case_key: &'a str,
    /// Passed plus failed.
    pub total: u64,
    /// Trials that passed.
    pub passed: u64,
    /// Trials that failed.
    pub failed: u64,
}

/// Returns the flaky cases, by key in ascending UTF-16 code units.
#[must_use]
pub fn flaky_cases<'a>(trials: impl IntoIterator<Item = GradedTrial<'a>>) -> Vec<FlakyCase<'a>> {
    let mut tallies: HashMap<&str, (u64, u64)> = HashMap::new();
    for trial in trials {
        let (passed, failed) = tallies.entry(trial.case_key).or_default();
        *(if trial.passed { passed } else { failed }) += 1;
    }
    let mut flaky: Vec<FlakyCase<'_>> = tallies
        .into_iter()
        .filter(|(_, (passed, failed))| *passed > 0 && *failed > 0)
        .map(|(case_key, (passed, failed))| FlakyCase {
            case_key,
            total: passed + failed,
            passed,
            failed,
        })
        .collect();
    flaky.sort_by(|a, b| a.case_key.encode_utf16().cmp(b.case_key.encode_utf16()));
    flaky
}
