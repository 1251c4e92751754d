//! Ids looked up by their beginning, and `last`.

use sqlx::SqlitePool;

use crate::{Store, error::StoreError};

/// Candidates that an error lists.
const LISTED: usize = 5;
/// The least number of characters that a shortened id keeps.
const SHORTEST: usize = 8;

/// What a reference turned out to name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// The run with this id.
    Run(String),
    /// The trial with this id.
    Trial(String),
}

impl Store {
    /// Returns the id of the run that `reference` names: its id, the beginning
    /// of it, or `last` for the one that started last.
    ///
    /// # Errors
    ///
    /// When no run or more than one has such an id.
    pub async fn resolve_run(&self, reference: &str) -> Result<String, StoreError> {
        match self.find_run(reference).await? {
            Some(id) => Ok(id),
            None => Err(not_found("run", reference)),
        }
    }

    /// Returns the id of the trial that `reference` names: its id or the
    /// beginning of it.
    ///
    /// # Errors
    ///
    /// When no trial or more than one has such an id.
    pub async fn resolve_trial(&self, reference: &str) -> Result<String, StoreError> {
        match self.find_trial(reference).await? {
            Some(id) => Ok(id),
            None => Err(not_found("trial", reference)),
        }
    }

    /// Returns what `reference` names. Runs come first: ids begin with the
    /// time, so a short beginning of a run's id fits its first trials as well.
    ///
    /// # Errors
    ///
    /// When nothing, more than one run, or no run and more than one trial has
    /// such an id.
    pub async fn resolve(&self, reference: &str) -> Result<Named, StoreError> {
        if let Some(id) = self.find_run(reference).await? {
            return Ok(Named::Run(id));
        }
        if let Some(id) = self.find_trial(reference).await? {
            return Ok(Named::Trial(id));
        }
        Err(not_found("run or trial", reference))
    }

    async fn find_run(&self, reference: &str) -> Result<Option<String>, StoreError> {
        if reference == "last" {
            return sqlx::query_scalar("SELECT id FROM runs ORDER BY id DESC LIMIT 1")
                .fetch_optional(&self.readers)
                .await
                .map_err(self.failure());
        }
        let sql = "SELECT id FROM runs WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3";
        let found = beginning_with(&self.readers, sql, reference)
            .await
            .map_err(self.failure())?;
        only("run", reference, found)
    }

    async fn find_trial(&self, reference: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT id FROM trials WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3";
        let found = beginning_with(&self.readers, sql, reference)
            .await
            .map_err(self.failure())?;
        only("trial", reference, found)
    }
}

async fn beginning_with(
    readers: &SqlitePool,
    sql: &'static str,
    beginning: &str,
) -> Result<Vec<String>, sqlx::Error> {
    if beginning.is_empty() {
        return Ok(Vec::new());
    }
    sqlx::query_scalar(sql)
        .bind(beginning)
        .bind(format!("{beginning}{}", char::MAX))
        .bind(i64::try_from(LISTED + 1).unwrap_or(i64::MAX))
        .fetch_all(readers)
        .await
}

/// Picks the one that is meant; a whole id wins over longer ones.
fn only(
    what: &'static str,
    reference: &str,
    mut found: Vec<String>,
) -> Result<Option<String>, StoreError> {
    if found.len() < 2 || found.first().is_some_and(|id| id == reference) {
        return Ok(found.into_iter().next());
    }
    let more = found.len() > LISTED;
    found.truncate(LISTED);
    Err(StoreError::Ambiguous {
        what,
        reference: reference.to_owned(),
        candidates: found,
        more,
    })
}

fn not_found(what: &'static str, reference: &str) -> StoreError {
    StoreError::NotFound {
        what,
        reference: reference.to_owned(),
    }
}

/// Returns the beginning of `id` that tells it from its neighbours in order.
pub(crate) fn shortened(id: &str, before: Option<&str>, after: Option<&str>) -> String {
    let shared = |other: Option<&str>| {
        other.map_or(0, |other| {
            id.chars()
                .zip(other.chars())
                .take_while(|(mine, theirs)| mine == theirs)
                .count()
        })
    };
    let needed = shared(before).max(shared(after)) + 1;
    id.chars().take(needed.max(SHORTEST)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_id_is_as_long_as_it_must_be() {
        assert_eq!(shortened("0123456789", None, None), "01234567");
        assert_eq!(
            shortened("0123456789", Some("0123456700"), Some("0123456799")),
            "012345678"
        );
        assert_eq!(
            shortened("0123456789", Some("0123456788"), None),
            "0123456789"
        );
        assert_eq!(shortened("01", None, Some("012")), "01");
    }
}
