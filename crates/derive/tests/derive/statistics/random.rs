//! A small random source that gives the same numbers on every machine.

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns whether a trial with that success rate succeeds.
    pub(super) fn passes(&mut self, rate: f64) -> bool {
        ((self.next() >> 11) as f64) < rate * 9_007_199_254_740_992.0
    }

    /// Returns how many of so many trials succeed.
    pub(super) fn passed(&mut self, rate: f64, trials: u64) -> u64 {
        (0..trials).filter(|_| self.passes(rate)).count() as u64
    }
}
