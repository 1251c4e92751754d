//! The one TLS implementation of the process.

use std::sync::Once;

/// Returns a builder of HTTP clients; the first call chooses *ring* as the
/// process's cryptography, unless somebody chose before.
pub(crate) fn http_client() -> reqwest::ClientBuilder {
    static CHOSEN: Once = Once::new();
    CHOSEN.call_once(|| {
        // An error means that a provider is already there, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    reqwest::Client::builder()
}
