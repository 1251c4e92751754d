//! Anchors and the weight of their aliases (`suite-file.md` §2.1).

use std::{collections::HashMap, sync::Arc};

use super::node::{Item, Node, Value};

/// Greatest `count × weight` of one anchored node.
pub(super) const MAX_ALIAS_WEIGHT: u64 = 100;

/// Anchored nodes of one document, by the parser's anchor number.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    states: HashMap<usize, State>,
}

#[derive(Debug)]
struct State {
    /// Absent while the node is still being read.
    node: Option<Arc<Node>>,
    /// Starts at 1; each alias adds 1.
    count: u64,
    /// Fixed at the first use; 0 for a node whose members are all empty.
    weight: u64,
}

/// Why an alias cannot be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AliasError {
    /// It names a node that it is part of.
    Inside,
    /// It is one use too many.
    Overweight,
}

impl Anchors {
    /// Notes that an anchored collection has begun.
    pub(super) fn open(&mut self, anchor: usize) {
        let state = State {
            node: None,
            count: 1,
            weight: 0,
        };
        self.states.insert(anchor, state);
    }

    /// Notes an anchored node that is complete.
    pub(super) fn define(&mut self, anchor: usize, node: &Arc<Node>) {
        let state = State {
            node: Some(Arc::clone(node)),
            count: 1,
            weight: 0,
        };
        self.states.insert(anchor, state);
    }

    /// Counts one more use of an anchored node and returns the node.
    pub(super) fn follow(&mut self, anchor: usize) -> Result<Arc<Node>, AliasError> {
        let Some(node) = self
            .states
            .get(&anchor)
            .and_then(|state| state.node.clone())
        else {
            return Err(AliasError::Inside);
        };
        // A weight of 0 cannot change later: aliases among the members were
        // followed, and so weighed, before the node was complete.
        let first_use = self
            .states
            .get(&anchor)
            .is_some_and(|state| state.count == 1);
        let weight = first_use.then(|| self.weigh(&node));
        let state = self.states.get_mut(&anchor).ok_or(AliasError::Inside)?;
        state.count += 1;
        if let Some(weight) = weight {
            state.weight = weight;
        }
        if state.count.saturating_mul(state.weight) > MAX_ALIAS_WEIGHT {
            return Err(AliasError::Overweight);
        }
        Ok(node)
    }

    /// Scalar 1; collection the largest weight among its members, empty 0.
    fn weigh(&self, node: &Node) -> u64 {
        match &node.value {
            Value::Sequence(items) => items
                .iter()
                .map(|item| self.weigh_member(item))
                .max()
                .unwrap_or(0),
            Value::Mapping(entries) => entries
                .iter()
                .map(|entry| {
                    let key = entry.key_alias.map_or(1, |anchor| self.weigh_alias(anchor));
                    key.max(self.weigh_member(&entry.item))
                })
                .max()
                .unwrap_or(0),
            _ => 1,
        }
    }

    fn weigh_member(&self, item: &Item) -> u64 {
        match item.alias {
            Some(alias) => self.weigh_alias(alias.anchor),
            None => self.weigh(&item.node),
        }
    }

    /// A member that is itself an alias: `count × weight` of its target now.
    fn weigh_alias(&self, anchor: usize) -> u64 {
        self.states
            .get(&anchor)
            .map_or(0, |state| state.count.saturating_mul(state.weight))
    }
}
