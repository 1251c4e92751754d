//! Aliases of tool names that a provider refuses (field case F17).
//!
//! An alias is the name with every refused character replaced, cut to the
//! limit, and told apart from every other name by a hash where needed. It
//! exists on the wire only: everything else uses the server's own names.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};
use strandline_contract::trace::Adaptation;
use strandline_derive::surface::providers::ToolLimits;

/// Own names and aliases of one request; empty when every name is accepted.
#[derive(Debug, Default)]
pub(super) struct Names {
    aliases: BTreeMap<String, String>,
    own: BTreeMap<String, String>,
}

impl Names {
    /// Gives an alias to every name that the provider refuses.
    pub(super) fn new<'a>(
        limits: &ToolLimits,
        names: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        let refused: BTreeSet<&str> = names
            .clone()
            .filter(|name| !limits.accepts_name(name))
            .collect();
        if refused.is_empty() {
            return Self::default();
        }
        let mut taken: BTreeSet<String> = names
            .filter(|name| limits.accepts_name(name))
            .map(str::to_owned)
            .collect();
        // Two refused names that look alike after cleaning both get a hash,
        // so that an alias does not depend on the order of the list.
        let mut clean: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for name in refused {
            clean.entry(cleaned(limits, name)).or_default().push(name);
        }
        let mut all = Self::default();
        for (candidate, owners) in clean {
            let alone = owners.len() == 1 && !taken.contains(&candidate);
            for own in owners {
                let mut alias = if alone {
                    candidate.clone()
                } else {
                    hashed(limits, &candidate, own, 0)
                };
                for round in 1.. {
                    if taken.insert(alias.clone()) {
                        break;
                    }
                    alias = hashed(limits, &candidate, own, round);
                }
                all.own.insert(alias.clone(), own.to_owned());
                all.aliases.insert(own.to_owned(), alias);
            }
        }
        all
    }

    /// Returns the name that the provider is given.
    pub(super) fn alias<'a>(&'a self, own: &'a str) -> &'a str {
        self.aliases.get(own).map_or(own, String::as_str)
    }

    /// Returns the server's own name for what the provider answered.
    pub(super) fn own<'a>(&'a self, alias: &'a str) -> &'a str {
        self.own.get(alias).map_or(alias, String::as_str)
    }

    /// Returns own name → alias, where they differ.
    pub(super) fn into_aliases(self) -> BTreeMap<String, String> {
        self.aliases
    }

    /// Returns what was renamed, to be recorded.
    pub(super) fn adaptations(&self, provider: &str) -> impl Iterator<Item = Adaptation> {
        self.aliases.iter().map(move |(own, alias)| Adaptation {
            kind: "toolNameAliased".to_owned(),
            subject: own.clone(),
            detail: format!("offered to {provider} as `{alias}`, since it refuses the name"),
        })
    }
}

fn cleaned(limits: &ToolLimits, own: &str) -> String {
    let mut clean = String::new();
    if limits.name_starts_with_letter
        && !own.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
    {
        clean.push('_');
    }
    clean.extend(own.chars().map(|character| {
        if character.is_ascii_alphanumeric() || character == '_' || character == '-' {
            character
        } else {
            '_'
        }
    }));
    if clean.is_empty() {
        clean.push('_');
    }
    if clean.len() > limits.name_length {
        return hashed(limits, &clean, own, 0);
    }
    clean
}

/// Cuts a clean name and ends it with a hash of the own name.
fn hashed(limits: &ToolLimits, clean: &str, own: &str, round: u32) -> String {
    let mut hash = Sha256::new();
    hash.update(own);
    hash.update(round.to_be_bytes());
    let digest = hash.finalize();
    let room = limits.name_length.saturating_sub(9);
    let kept = &clean[..clean.len().min(room)];
    format!(
        "{kept}_{:02x}{:02x}{:02x}{:02x}",
        digest[0], digest[1], digest[2], digest[3]
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use strandline_contract::providers::find_provider;
    use strandline_derive::surface::providers::tool_limits;

    use super::*;

    fn names(provider: &str, own: &[&str]) -> Names {
        let limits = tool_limits(find_provider(provider).expect("known"));
        Names::new(&limits, own.iter().copied())
    }

    #[test]
    fn accepted_names_stay_as_they_are() {
        let names = names("openai", &["a_b", "a-b", "A1"]);
        assert_eq!(names.alias("a_b"), "a_b");
        assert!(names.into_aliases().is_empty());
    }

    fn check(own: &BTreeSet<String>) {
        for provider in ["openai", "anthropic", "google"] {
            let limits = tool_limits(find_provider(provider).expect("known"));
            let names = Names::new(&limits, own.iter().map(String::as_str));
            let aliases: BTreeSet<&str> = own.iter().map(|own| names.alias(own)).collect();
            assert_eq!(aliases.len(), own.len(), "{provider}");
            for own in own {
                assert!(limits.accepts_name(names.alias(own)), "{provider} {own}");
                assert_eq!(names.own(names.alias(own)), own, "{provider}");
            }
        }
    }

    #[test]
    fn names_that_look_alike_are_told_apart() {
        let long = "x".repeat(200);
        let own = ["a.b", "a/b", "a b", "a_b", "", "ä", "日本", "1st", &long];
        check(
            &own.into_iter()
                .map(str::to_owned)
                .chain([format!("{long}y")])
                .collect(),
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Aliases are accepted, unique and lead back to their names.
        #[test]
        fn aliases_are_accepted_unique_and_reversible(
            own in prop::collection::btree_set("[ab_. /é0-]{0,3}|[ab.]{60,70}|a{126,130}", 0..12)
        ) {
            check(&own);
        }
    }

    #[test]
    fn a_lone_name_keeps_its_look() {
        let names = names("openai", &["files.read", "list"]);
        assert_eq!(names.alias("files.read"), "files_read");
        let adaptations: Vec<_> = names.adaptations("openai").collect();
        assert_eq!(adaptations.len(), 1);
        assert_eq!(adaptations[0].subject, "files.read");
    }

    #[test]
    fn an_alias_never_takes_the_name_of_another_tool() {
        let names = names("openai", &["a.b", "a_b"]);
        assert_eq!(names.alias("a_b"), "a_b");
        assert!(names.alias("a.b").starts_with("a_b_"));
        assert_eq!(names.own("a_b"), "a_b");
    }

    #[test]
    fn aliases_do_not_depend_on_the_order_of_the_list() {
        let forth = names("openai", &["a.b", "a/b", "c d"]);
        let back = names("openai", &["c d", "a/b", "a.b"]);
        assert_eq!(forth.into_aliases(), back.into_aliases());
    }

    #[test]
    fn a_name_the_model_made_up_stays_made_up() {
        assert_eq!(names("openai", &["a.b"]).own("nothing"), "nothing");
    }
}
