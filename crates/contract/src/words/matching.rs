//! Words of tool-call matching (`assertions.md` §2.1, §3.3).

use super::vocabulary;

vocabulary! {
    /// Whether the order of calls counts.
    CallOrder ("call order") {
        Ignore = "ignore", "in any order",
            "Expected calls may come in any order, with other calls between them.";
        Superset = "superset", "in order",
            "Expected calls come in the authored order; other calls may lie between them.";
        Strict = "strict", "in exactly this order",
            "The call at each position is the one expected there.";
    }
}

impl CallOrder {
    /// Returns the word that a suite file uses for it.
    #[must_use]
    pub const fn authored(self) -> &'static str {
        match self {
            Self::Ignore => "any",
            Self::Superset => "in-order",
            Self::Strict => "exact",
        }
    }
}

vocabulary! {
    /// How the arguments of a call are compared with the expected ones.
    ArgumentMatching ("argument matching") {
        Partial = "partial", "the expected arguments must be there",
            "Every expected argument has the expected value or type; others are ignored.";
        Exact = "exact", "exactly the expected arguments",
            "The arguments are deeply equal.";
        Ignore = "ignore", "arguments do not count",
            "Only the tool's name counts.";
    }
}

vocabulary! {
    /// Why an expectation does not hold.
    ExpectationFailure ("expectation failure") {
        Missing = "missing", "missing",
            "Fewer calls were made than the case demands.";
        Arguments = "arguments", "other arguments",
            "The call was made with other arguments than the case demands.";
    }
}
