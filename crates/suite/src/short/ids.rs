//! Ids that stay the same while other cases change.

use strandline_contract::canonical::sha256_hex;

/// The URL-safe alphabet of generated ids (`suite-file.md` §3).
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Characters after the prefix.
const LENGTH: usize = 21;

/// Returns an id that depends on a text only.
pub(super) fn derived(prefix: &str, text: &str) -> String {
    let hash = sha256_hex(text.as_bytes());
    let bits: Vec<bool> = hash
        .chars()
        .filter_map(|digit| digit.to_digit(16))
        .flat_map(|digit| [8, 4, 2, 1].map(|bit| digit & bit != 0))
        .collect();
    let symbols = bits.chunks_exact(6).take(LENGTH).map(|six| {
        let index = six.iter().fold(0, |sum, bit| sum * 2 + usize::from(*bit));
        char::from(ALPHABET[index])
    });
    prefix.chars().chain(symbols).collect()
}

/// Returns the id of a case by its prompt; `ordinal` counts the cases above
/// that ask the same.
pub(super) fn of_case(prompt: &str, ordinal: usize) -> String {
    if ordinal == 0 {
        return derived("c_", prompt);
    }
    derived("c_", &format!("{prompt}\u{0}{ordinal}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_opaque_and_depend_on_the_prompt_only() {
        let id = of_case("Where is order 17?", 0);
        assert_eq!(
            id, "c_t7QiMwuhcX_V1YF7v7dhn",
            "frozen: history is filed under it"
        );
        assert_eq!(id.len(), 23);
        assert_ne!(id, of_case("Where is order 17?", 1));
        assert_ne!(id, of_case("Where is order 18?", 0));
    }
}
