//! Lays text out in columns, by display width and not by bytes.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the columns that `text` takes, colour sequences left out.
#[must_use]
pub fn width(text: &str) -> usize {
    if !text.contains('\x1b') {
        return text.width();
    }
    let mut columns = 0;
    let mut rest = text;
    while let Some(start) = rest.find('\x1b') {
        columns += rest[..start].width();
        // Only our own `ESC [ … m` sequences come this far.
        rest = rest[start..].split_once('m').map_or("", |(_, after)| after);
    }
    columns + rest.width()
}

/// Returns `text` filled up with spaces on the right to `columns`.
#[must_use]
pub fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Returns `text` filled up with spaces on the left to `columns`.
#[must_use]
pub fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Returns uncoloured `text` cut to `columns`, the cut marked with `ellipsis`.
#[must_use]
pub fn cut(text: &str, columns: usize, ellipsis: &str) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(ellipsis.width());
    let mut kept = String::new();
    let mut used = 0;
    for character in text.chars() {
        let wide = character.width().unwrap_or(0);
        if used + wide > room {
            break;
        }
        used += wide;
        kept.push(character);
    }
    kept.truncate(kept.trim_end().len());
    kept.push_str(ellipsis);
    kept
}

/// Returns uncoloured `text` broken at spaces into lines of at most `columns`.
///
/// A percent sign stays with its number. A word that is wider than a line is
/// broken inside. There is at least one line.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in words(text) {
        if !line.is_empty() && line.width() + 1 + word.width() > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        if word.width() <= columns {
            line.push_str(word);
            continue;
        }
        for character in word.chars() {
            if !line.is_empty() && line.width() + character.width().unwrap_or(0) > columns {
                lines.push(std::mem::take(&mut line));
            }
            line.push(character);
        }
    }
    lines.push(line);
    lines
}

/// Returns the words of a text; a number and its percent sign are one.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start_matches(' ');
    std::iter::from_fn(move || {
        let mut end = rest.find(' ').unwrap_or(rest.len());
        if rest[end..].starts_with(" %") {
            let after = end + 2;
            end = rest[after..].find(' ').map_or(rest.len(), |at| after + at);
        }
        let word = &rest[..end];
        rest = rest[end..].trim_start_matches(' ');
        (!word.is_empty()).then_some(word)
    })
}

/// Returns `facts` joined by `separator` into lines of at most `columns`,
/// broken between facts; a fact that is wider than a line is wrapped.
#[must_use]
pub fn flow(facts: &[String], separator: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for fact in facts {
        if let Some(last) = lines.last_mut()
            && width(last) + width(separator) + width(fact) <= columns
        {
            last.push_str(separator);
            last.push_str(fact);
            continue;
        }
        lines.extend(wrap(fact, columns));
    }
    lines
}

/// Returns `label` followed by `text`, whose further lines hang under its
/// first one. `indent` is the column of the label, `hang` that of the text; a
/// longer label moves the text to the right.
#[must_use]
pub fn hanging(label: &str, text: &str, indent: usize, hang: usize, columns: usize) -> Vec<String> {
    let hang = if label.is_empty() {
        hang
    } else {
        hang.max(indent + width(label) + 2)
    };
    let mut lines = wrap(text, columns.saturating_sub(hang)).into_iter();
    let head = left(&format!("{}{label}", " ".repeat(indent)), hang);
    let mut result = vec![format!("{head}{}", lines.next().unwrap_or_default())];
    result.extend(lines.map(|line| format!("{}{line}", " ".repeat(hang))));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_counts_columns() {
        assert_eq!(width("abc"), 3);
        assert_eq!(width("注文"), 4);
        assert_eq!(width("\x1b[38;5;30m●\x1b[0m x"), 3);
        assert_eq!(width("e\u{301}"), 1);
    }

    #[test]
    fn cutting_respects_wide_characters() {
        assert_eq!(cut("refunds an order", 9, "…"), "refunds…");
        assert_eq!(cut("注文を検索", 5, "…"), "注文…");
        assert_eq!(cut("注文を検索", 6, "…"), "注文…");
        assert_eq!(cut("short", 5, "…"), "short");
    }

    #[test]
    fn wrapping_never_exceeds_the_width() {
        let text =
            "compare the arguments the case requires with averyveryverylongword 注文を検索する";
        for columns in 2..40 {
            for line in wrap(text, columns) {
                assert!(width(&line) <= columns, "{columns}: {line:?}");
            }
        }
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(wrap("a bc d", 4), ["a bc", "d"]);
        assert_eq!(wrap("limit 10 %) x", 9), ["limit", "10 %) x"]);
    }

    #[test]
    fn facts_stay_whole_where_they_fit() {
        let facts = ["24 gradeable".to_owned(), "1 evaluator error".to_owned()];
        assert_eq!(
            flow(&facts, " - ", 40),
            ["24 gradeable - 1 evaluator error"]
        );
        assert_eq!(
            flow(&facts, " - ", 20),
            ["24 gradeable", "1 evaluator error"]
        );
        assert_eq!(
            flow(&facts, " - ", 12),
            ["24 gradeable", "1 evaluator", "error"]
        );
    }

    #[test]
    fn further_lines_hang_under_the_text() {
        assert_eq!(
            hanging("next", "read the tool response", 3, 9, 20),
            ["   next  read the", "         tool", "         response"]
        );
        assert_eq!(
            hanging("trials 1, 2", "a bc", 1, 5, 16),
            [" trials 1, 2  a", "              bc"]
        );
    }
}
