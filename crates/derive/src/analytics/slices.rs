//! Which slices a trial belongs to, and which of them are kept
//! (`analytics.md` §5).

use std::{cmp::Reverse, collections::BTreeMap};

use serde_json::json;
use strandline_contract::{
    analytics::{
        MAX_HOST_SLICES, MAX_INTENT_SLICES, MAX_MODEL_SLICES, Slice, SliceRow, SliceTruncation,
    },
    analytics_input::AnalyticsTrial,
    canonical::by_code_units,
    ecma,
    words::SliceDimension,
};

use super::tally::SliceCounts;

/// Sorts behind every legal label.
const UNLABELLED: &str = "\u{ffff}";

/// The slices of a run, as far as its trials went.
#[derive(Debug, Clone, Default)]
pub(super) struct Slices {
    pub(super) overall: SliceCounts,
    unlabelled: Option<Box<SliceCounts>>,
    intents: BTreeMap<String, SliceCounts>,
    /// By provider, then by model.
    models: BTreeMap<String, BTreeMap<String, SliceCounts>>,
    hosts: BTreeMap<String, Host>,
}

/// A host as its first trial has it, with its counts.
#[derive(Debug, Clone)]
struct Host {
    name: Option<String>,
    engine: Option<String>,
    counts: SliceCounts,
}

impl Slices {
    /// Calls `count` with each slice that a trial belongs to.
    pub(super) fn each(
        &mut self,
        trial: &AnalyticsTrial<'_>,
        mut count: impl FnMut(&mut SliceCounts),
    ) {
        count(&mut self.overall);
        match normalize_intent(trial.intent.as_deref()) {
            Some(intent) => at(&mut self.intents, intent, SliceCounts::default, &mut count),
            None => count(self.unlabelled.get_or_insert_default()),
        }
        if let (Some(provider), Some(model)) = (&trial.provider, &trial.model) {
            at(&mut self.models, provider, BTreeMap::new, |models| {
                at(models, model, SliceCounts::default, &mut count);
            });
        }
        if let Some(key) = &trial.host_key {
            // The first trial of a host names it; later ones change nothing.
            let first = || Host {
                name: trial.host_name.as_deref().map(str::to_owned),
                engine: trial.execution_engine.as_deref().map(str::to_owned),
                counts: SliceCounts::default(),
            };
            at(&mut self.hosts, key, first, |host| count(&mut host.counts));
        }
    }

    /// Adds the slices of trials that came later.
    pub(super) fn merge(&mut self, later: Self) {
        self.overall.merge(&later.overall);
        if let Some(counts) = later.unlabelled {
            self.unlabelled.get_or_insert_default().merge(&counts);
        }
        for (intent, counts) in later.intents {
            self.intents.entry(intent).or_default().merge(&counts);
        }
        for (provider, models) in later.models {
            let known = self.models.entry(provider).or_default();
            for (model, counts) in models {
                known.entry(model).or_default().merge(&counts);
            }
        }
        for (key, host) in later.hosts {
            match self.hosts.get_mut(&key) {
                Some(known) => known.counts.merge(&host.counts),
                None => {
                    self.hosts.insert(key, host);
                }
            }
        }
    }

    /// Returns the slices that are kept, and what was dropped.
    pub(super) fn rows(&self) -> (Vec<SliceRow>, Vec<SliceTruncation>) {
        let mut kept = Kept {
            rows: vec![self.overall.row(Slice::Overall {})],
            truncation: Vec::new(),
        };
        let intents = self
            .intents
            .iter()
            .map(|(intent, counts)| {
                let slice = Slice::Intent {
                    intent: Some(intent.clone()),
                };
                (intent.clone(), counts, slice)
            })
            .chain(self.unlabelled.as_deref().map(|counts| {
                let slice = Slice::Intent { intent: None };
                (UNLABELLED.to_owned(), counts, slice)
            }));
        kept.retain(SliceDimension::Intent, MAX_INTENT_SLICES, intents);
        let models = self.models.iter().flat_map(|(provider, models)| {
            models.iter().map(move |(model, counts)| {
                let slice = Slice::Model {
                    provider: provider.clone(),
                    model: model.clone(),
                };
                (json!([provider, model]).to_string(), counts, slice)
            })
        });
        kept.retain(SliceDimension::Model, MAX_MODEL_SLICES, models);
        let hosts = self.hosts.iter().map(|(key, host)| {
            let slice = Slice::Host {
                host_key: key.clone(),
                host_name: host.name.clone(),
                execution_engine: host.engine.clone(),
            };
            (key.clone(), &host.counts, slice)
        });
        kept.retain(SliceDimension::Host, MAX_HOST_SLICES, hosts);
        (kept.rows, kept.truncation)
    }
}

/// Hands over the entry of a key, making it where there is none; the key is
/// copied only then.
fn at<T>(
    map: &mut BTreeMap<String, T>,
    key: &str,
    make: impl FnOnce() -> T,
    hand_over: impl FnOnce(&mut T),
) {
    match map.get_mut(key) {
        Some(entry) => hand_over(entry),
        None => hand_over(map.entry(key.to_owned()).or_insert_with(make)),
    }
}

/// Returns an intent without white space around it; none when nothing is left.
fn normalize_intent(intent: Option<&str>) -> Option<&str> {
    intent.map(ecma::trim).filter(|intent| !intent.is_empty())
}

struct Kept {
    rows: Vec<SliceRow>,
    truncation: Vec<SliceTruncation>,
}

impl Kept {
    /// Keeps the slices of one dimension with the most included trials, in the
    /// order of their sort keys.
    fn retain<'c>(
        &mut self,
        dimension: SliceDimension,
        cap: usize,
        members: impl Iterator<Item = (String, &'c SliceCounts, Slice)>,
    ) {
        let mut members: Vec<_> = members.collect();
        // 1, 2. The cap takes by rank.
        members.sort_by(|left, right| {
            Reverse(left.1.included)
                .cmp(&Reverse(right.1.included))
                .then_with(|| by_code_units(&left.0, &right.0))
        });
        let distinct = members.len();
        members.truncate(cap);
        // 3. What was dropped is told.
        if members.len() < distinct {
            self.truncation.push(SliceTruncation {
                dimension,
                distinct_values: distinct as u64,
                retained: members.len() as u64,
            });
        }
        // 4. The order is that of the sort keys.
        members.sort_by(|left, right| by_code_units(&left.0, &right.0));
        let rows = members
            .into_iter()
            .map(|(_, counts, slice)| counts.row(slice));
        self.rows.extend(rows);
    }
}
