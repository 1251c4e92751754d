//! What the file may do: run its own script, use its own stylesheet, nothing
//! else.

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

/// Returns a content security policy under which exactly these scripts run and
/// these stylesheets apply, by their hashes, and nothing is loaded.
#[must_use]
pub fn policy(scripts: &[&str], stylesheets: &[&str]) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        hashes(scripts),
        hashes(stylesheets)
    )
}

fn hashes(texts: &[&str]) -> String {
    let hash = |text: &&str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    texts.iter().map(hash).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_allowed_by_its_hash() {
        // The hash of the empty text is well known.
        assert_eq!(
            policy(&[""], &[""]),
            "default-src 'none'; \
             script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; \
             style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; \
             base-uri 'none'; form-action 'none'"
        );
    }
}
