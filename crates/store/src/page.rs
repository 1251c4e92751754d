//! Listings in pages, with a cursor that says where the next one begins.

/// One page of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// What is on the page, in the listing's order.
    pub items: Vec<T>,
    /// Where the next page begins; absent on the last one.
    pub next_cursor: Option<String>,
    /// The page holds everything: it began at the start and none follows
    /// (`decision-summary.md` §5). A page reached by cursor is never complete.
    pub complete: bool,
}

impl<T> Page<T> {
    /// Makes a page from up to `limit + 1` rows; the row too many only tells
    /// that there is a next page.
    pub(crate) fn cut(
        mut items: Vec<T>,
        limit: u32,
        from_start: bool,
        cursor_after: impl FnOnce(&T) -> String,
    ) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next_cursor = if more {
            items.last().map(cursor_after)
        } else {
            None
        };
        Self {
            complete: from_start && !more,
            items,
            next_cursor,
        }
    }

    pub(crate) fn map<U, E>(self, change: impl FnMut(T) -> Result<U, E>) -> Result<Page<U>, E> {
        Ok(Page {
            items: self
                .items
                .into_iter()
                .map(change)
                .collect::<Result<_, _>>()?,
            next_cursor: self.next_cursor,
            complete: self.complete,
        })
    }
}
