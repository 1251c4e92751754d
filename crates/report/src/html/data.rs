//! JSON in a page: a block that a parser never runs and that no text inside can
//! end.

/// Returns JSON text that cannot end the element that it stands in, begin a
/// comment in it, or break a line for a script.
///
/// These characters only occur inside of JSON strings, where an escape stands
/// for the same character.
#[must_use]
pub fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            _ => out.push(character),
        }
    }
    out
}
