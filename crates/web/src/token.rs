//! The secret of one process: who knows it may change something.

use std::fmt;

use sha2::{Digest, Sha256};
use strandline_contract::secret::Secret;

/// Bytes of a token that we make ourselves.
const RANDOM_BYTES: usize = 32;
/// Fewest characters of a token that a user chooses.
pub const SHORTEST_TOKEN: usize = 16;

/// What a caller must know. It is never printed by accident.
#[derive(Clone)]
pub struct Token {
    secret: Secret,
    /// What a browser holds instead of the token itself.
    session: String,
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

impl Token {
    /// Makes a random token.
    ///
    /// # Errors
    ///
    /// When the system has no random bytes to give.
    pub fn random() -> Result<Self, String> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| format!("the system gives no random bytes: {error}"))?;
        Ok(Self::of(hex(&bytes)))
    }

    /// Takes a token that a user chose.
    ///
    /// # Errors
    ///
    /// When it is too short to be a secret, or cannot stand in a header.
    pub fn chosen(text: &str) -> Result<Self, String> {
        if text.len() < SHORTEST_TOKEN {
            return Err(format!(
                "the token has {} characters, and needs at least {SHORTEST_TOKEN}",
                text.len()
            ));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("the token must be printable ASCII without spaces".to_owned());
        }
        Ok(Self::of(text.to_owned()))
    }

    fn of(text: String) -> Self {
        let session = hex(&Sha256::digest(format!("strandline session {text}")));
        Self {
            secret: Secret::new(text),
            session,
        }
    }

    /// Returns the token itself, for the pages and for the line that is printed
    /// at start.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.secret.expose()
    }

    /// Tells whether a caller gave the token.
    #[must_use]
    pub fn is(&self, given: &str) -> bool {
        same(self.secret.expose(), given)
    }

    /// Returns the value of the cookie of a browser that gave the token.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Tells whether a browser holds the cookie.
    #[must_use]
    pub fn is_session(&self, given: &str) -> bool {
        same(&self.session, given)
    }
}

/// Compares by digest, so that the time says nothing about where two differ.
fn same(expected: &str, given: &str) -> bool {
    let (expected, given) = (Sha256::digest(expected), Sha256::digest(given));
    let differing = expected
        .iter()
        .zip(given.iter())
        .fold(0, |differing, (left, right)| differing | (left ^ right));
    differing == 0
}

/// Returns bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_random_and_never_printed() {
        let (one, other) = (Token::random(), Token::random());
        let (one, other) = (one.expect("random bytes"), other.expect("random bytes"));
        assert_ne!(one.expose(), other.expose());
        assert_eq!(one.expose().len(), 2 * RANDOM_BYTES);
        assert_eq!(format!("{one:?}"), "Token(…)");
        assert!(one.is(one.expose()) && !one.is(other.expose()) && !one.is(""));
        assert!(one.is_session(one.session()) && !one.is_session(one.expose()));
    }

    #[test]
    fn a_chosen_token_is_long_enough_and_fits_a_header() {
        assert!(Token::chosen("0123456789abcdef").is_ok());
        assert!(Token::chosen("short").is_err());
        assert!(Token::chosen("0123456789 abcdef").is_err());
    }
}
