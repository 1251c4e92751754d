//! The tools of all bound servers, as one catalog.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;
use strandline_contract::{
    policy::{Denial, FrozenPolicy},
    trace::Adaptation,
    transcript::{InventoryTool, ToolDeclaration},
};

use strandline_derive::policy;

use crate::models::ToolDefinition;

/// The tools that a trial may use, frozen for a turn.
#[derive(Debug, Clone, Default)]
pub(super) struct Catalog {
    /// What the model is offered, in the order listed.
    pub(super) definitions: Vec<ToolDefinition>,
    /// The same as assertions read it.
    pub(super) inventory: Arc<[InventoryTool]>,
    /// Every raw entry of every server.
    pub(super) declarations: Arc<[ToolDeclaration]>,
    /// What we left out, and why.
    pub(super) adaptations: Vec<Adaptation>,
    /// Tools that may not be called; absent when the suite has no policy.
    pub(super) policy: Option<FrozenPolicy>,
    servers_by_tool: BTreeMap<String, usize>,
}

/// A tool name that two servers list (`TOOL_NAME_CONFLICT`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NameConflict {
    /// The name.
    pub(super) tool_name: String,
    /// The servers that list it.
    pub(super) servers: [String; 2],
}

impl Catalog {
    /// Builds the catalog from each server's name and raw `tools/list` entries.
    ///
    /// # Errors
    ///
    /// Returns every tool name that two servers list. A name that one server
    /// lists twice is offered once, and the repetition is recorded.
    pub(super) fn new<'a>(
        listings: impl IntoIterator<Item = (&'a str, &'a [Value])>,
    ) -> Result<Self, Vec<NameConflict>> {
        let mut catalog = Self::default();
        let mut conflicts = Vec::new();
        let (mut inventory, mut declarations) = (Vec::new(), Vec::new());
        let mut owners: BTreeMap<String, &str> = BTreeMap::new();
        for (index, (server, tools)) in listings.into_iter().enumerate() {
            let mut seen = BTreeSet::new();
            for entry in tools {
                let Some(declaration) = ToolDeclaration::from_listed(server, entry) else {
                    continue;
                };
                let name = declaration.name.clone();
                if !seen.insert(name.clone()) {
                    catalog.adaptations.push(Adaptation {
                        kind: "duplicateToolDropped".to_owned(),
                        subject: name,
                        detail: format!(
                            "server `{server}` lists the tool more than once; the first entry is offered"
                        ),
                    });
                    declarations.push(declaration);
                    continue;
                }
                if let Some(owner) = owners.get(name.as_str()) {
                    conflicts.push(NameConflict {
                        tool_name: name,
                        servers: [(*owner).to_owned(), server.to_owned()],
                    });
                    continue;
                }
                owners.insert(name.clone(), server);
                catalog.servers_by_tool.insert(name, index);
                catalog.definitions.push(definition(&declaration));
                inventory.push(declaration.shown());
                declarations.push(declaration);
            }
        }
        catalog.inventory = inventory.into();
        catalog.declarations = declarations.into();
        if conflicts.is_empty() {
            Ok(catalog)
        } else {
            Err(conflicts)
        }
    }

    /// Returns the index of the server that has a tool.
    #[must_use]
    pub(super) fn server_of(&self, tool_name: &str) -> Option<usize> {
        self.servers_by_tool.get(tool_name).copied()
    }

    /// Returns why a tool may not be called, if the suite's policy says so.
    #[must_use]
    pub(super) fn denial(&self, tool_name: &str) -> Option<Denial> {
        policy::check(self.policy.as_ref()?, tool_name).err()
    }

    /// Returns whether a tool is on offer.
    #[must_use]
    pub(super) fn offers(&self, tool_name: &str) -> bool {
        self.servers_by_tool.contains_key(tool_name)
    }
}

fn definition(declaration: &ToolDeclaration) -> ToolDefinition {
    ToolDefinition {
        name: declaration.name.clone(),
        description: declaration.description.clone(),
        input_schema: declaration
            .input_schema
            .clone()
            .unwrap_or_else(|| serde_json::json!({"type": "object"})),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_listed_twice_by_one_server_is_offered_once() {
        let tools = [
            json!({"name": "a"}),
            json!({"name": "a"}),
            json!({"no": "name"}),
        ];
        let catalog = Catalog::new([("s", &tools[..])]).expect("one server cannot conflict");
        assert_eq!(catalog.definitions.len(), 1);
        assert_eq!(catalog.declarations.len(), 2);
        assert_eq!(catalog.adaptations[0].kind, "duplicateToolDropped");
        assert!(catalog.offers("a") && !catalog.offers("b"));
    }

    #[test]
    fn a_tool_listed_by_two_servers_is_a_conflict() {
        let (one, two) = ([json!({"name": "a"})], [json!({"name": "a"})]);
        let conflicts = Catalog::new([("s", &one[..]), ("t", &two[..])]).expect_err("conflict");
        assert_eq!(conflicts[0].servers, ["s".to_owned(), "t".to_owned()]);
    }
}
