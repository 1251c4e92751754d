//! Rates that carry their numerator, denominator and exclusions
//! (`verdict.md` §2, `analytics.md` §9).

use std::{borrow::Cow, collections::BTreeMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{number, words::RateState};

/// Counts per member of a vocabulary, in vocabulary order; a missing member is 0.
pub type Counts<K> = BTreeMap<K, u64>;

/// A fraction with everything that was counted for it.
///
/// A zero denominator is "not measured": neither 0 % nor 100 %. `K` is the
/// vocabulary that names why something was left out of the denominator.
#[derive(Debug, Clone, PartialEq)]
pub enum Rate<K: Ord> {
    /// The denominator is at least 1.
    Measured {
        /// `numerator / denominator`, one division, unrounded; 0 to 1.
        value: f64,
        /// What was counted.
        numerator: u64,
        /// Out of how many; at least 1.
        denominator: u64,
        /// What was left out of the denominator, and why.
        exclusions: Counts<K>,
    },
    /// The denominator is 0, so there is no value.
    NotMeasured {
        /// What was left out of the denominator, and why.
        exclusions: Counts<K>,
    },
}

impl<K: Ord> Rate<K> {
    /// Measures `numerator / denominator` (`verdict.md` §2, `measure`).
    ///
    /// A zero denominator keeps the exclusions and measures nothing.
    #[must_use]
    pub fn measure(numerator: u64, denominator: u64, exclusions: Counts<K>) -> Self {
        if denominator == 0 {
            return Self::NotMeasured { exclusions };
        }
        Self::Measured {
            value: quotient(numerator, denominator),
            numerator,
            denominator,
            exclusions,
        }
    }

    /// Returns whether there is a denominator.
    #[must_use]
    pub const fn state(&self) -> RateState {
        match self {
            Self::Measured { .. } => RateState::Measured,
            Self::NotMeasured { .. } => RateState::NotMeasured,
        }
    }

    /// Returns the fraction, unless nothing was measured.
    #[must_use]
    pub const fn value(&self) -> Option<f64> {
        match self {
            Self::Measured { value, .. } => Some(*value),
            Self::NotMeasured { .. } => None,
        }
    }

    /// Returns what was counted; 0 when nothing was measured.
    #[must_use]
    pub const fn numerator(&self) -> u64 {
        match self {
            Self::Measured { numerator, .. } => *numerator,
            Self::NotMeasured { .. } => 0,
        }
    }

    /// Returns out of how many; 0 when nothing was measured.
    #[must_use]
    pub const fn denominator(&self) -> u64 {
        match self {
            Self::Measured { denominator, .. } => *denominator,
            Self::NotMeasured { .. } => 0,
        }
    }

    /// Returns what was left out of the denominator, and why.
    #[must_use]
    pub const fn exclusions(&self) -> &Counts<K> {
        match self {
            Self::Measured { exclusions, .. } | Self::NotMeasured { exclusions } => exclusions,
        }
    }
}

/// Returns the double nearest to the quotient of two counts.
#[must_use]
pub fn quotient(numerator: u64, denominator: u64) -> f64 {
    numerator as f64 / denominator as f64
}

/// A rate as it is written.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    bound(deserialize = "K: Ord + Clone + Deserialize<'de>")
)]
struct Wire<'a, K: Ord + Clone> {
    /// Whether there is a denominator.
    state: RateState,
    /// The quotient; `null` when not measured.
    #[serde(serialize_with = "number::write_optional")]
    value: Option<f64>,
    /// What was counted.
    #[serde(deserialize_with = "number::read_count")]
    numerator: u64,
    /// Out of how many.
    #[serde(deserialize_with = "number::read_count")]
    denominator: u64,
    /// What was left out, per reason.
    exclusions: Cow<'a, Counts<K>>,
}

impl<K: Ord + Clone + Serialize> Serialize for Rate<K> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Wire {
            state: self.state(),
            value: self.value(),
            numerator: self.numerator(),
            denominator: self.denominator(),
            exclusions: Cow::Borrowed(self.exclusions()),
        }
        .serialize(serializer)
    }
}

impl<'de, K: Ord + Clone + Deserialize<'de>> Deserialize<'de> for Rate<K> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Wire::<'_, K>::deserialize(deserializer)?;
        let exclusions = wire.exclusions.into_owned();
        match (wire.state, wire.value, wire.numerator, wire.denominator) {
            (RateState::Measured, Some(value), numerator, denominator) if denominator > 0 => {
                Ok(Self::Measured {
                    value,
                    numerator,
                    denominator,
                    exclusions,
                })
            }
            (RateState::NotMeasured, None, 0, 0) => Ok(Self::NotMeasured { exclusions }),
            (state, ..) => Err(serde::de::Error::custom(format_args!(
                "value, numerator and denominator do not fit state `{state}`"
            ))),
        }
    }
}

impl<K: Ord + Clone + JsonSchema> JsonSchema for Rate<K> {
    fn schema_name() -> Cow<'static, str> {
        format!("RateOf{}", K::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Wire::<'_, K>::json_schema(generator)
    }
}
