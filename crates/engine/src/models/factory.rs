//! From a provider and a model to a client (`suite-file.md` §9.6).

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
};

use reqwest::{Client, Url, redirect::Policy};
use strandline_contract::{
    providers::{PROVIDERS, Provider, REFUSED_PROVIDERS, WireShape, find_provider},
    secret::Secret,
};

use super::{HttpModel, Limits, ModelClient};

/// Settings of all models of a run; `Debug` hides the base URL, which may hold
/// a password that is refused later.
#[derive(Clone, Default)]
pub struct ModelSettings {
    /// Base URL that replaces every provider's own (`--model-base-url`).
    pub base_url: Option<String>,
    /// Bounds of every request.
    pub limits: Limits,
}

impl std::fmt::Debug for ModelSettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ModelSettings")
            .field("base_url", &self.base_url.as_ref().map(|_| "***"))
            .field("limits", &self.limits)
            .finish()
    }
}

/// Makes the clients of a run; they share their connections.
#[derive(Debug)]
pub struct ModelFactory {
    settings: ModelSettings,
    remote: OnceLock<Client>,
    loopback: OnceLock<Client>,
}

/// Why a model cannot be asked at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelSetupError {
    /// `MODEL_UNSUPPORTED`, `CREDENTIALS_MISSING`, `OPTIONS_INVALID` or
    /// `SETUP_FAILED` (`suite-file.md` §9.5).
    pub code: &'static str,
    /// What is wrong, in one line, without secrets.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ModelSetupError {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
        }
    }

    fn with_hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

impl ModelFactory {
    /// Creates a factory for one run.
    #[must_use]
    pub fn new(settings: ModelSettings) -> Self {
        Self {
            settings,
            remote: OnceLock::new(),
            loopback: OnceLock::new(),
        }
    }

    /// Returns a client for a model of a provider.
    ///
    /// `environment` looks a variable up; a blank value counts as unset.
    ///
    /// # Errors
    ///
    /// Fails when the provider is unknown, refused or `scripted` (whose turns
    /// a case holds, see [`ScriptedModel`](super::ScriptedModel)), when its
    /// key is not set, or when the base URL cannot be used.
    pub fn client(
        &self,
        provider: &str,
        model: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Arc<dyn ModelClient>, ModelSetupError> {
        let provider = supported(provider)?;
        if model.trim().is_empty() {
            return Err(ModelSetupError::new(
                "MODEL_UNSUPPORTED",
                format!("no model is named after `{}/`", provider.name),
            ));
        }
        let set = |variable: &str| {
            environment(variable)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let base_url = self.base_url(provider, &set)?;
        let key = key(provider, &set)?;
        let http = self.http(&base_url)?;
        HttpModel::new(http, provider, model, &base_url, key, self.settings.limits)
            .map(|model| Arc::new(model) as Arc<dyn ModelClient>)
            .map_err(|_| {
                ModelSetupError::new(
                    "CREDENTIALS_MISSING",
                    format!("{} holds characters that no key has", variables(provider)),
                )
            })
    }

    fn base_url(
        &self,
        provider: &Provider,
        set: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Url, ModelSetupError> {
        let (origin, text) = if let Some(text) = &self.settings.base_url {
            ("`--model-base-url`".to_owned(), text.clone())
        } else if let Some((variable, text)) = provider
            .base_url_variable
            .and_then(|variable| Some((variable, set(variable)?)))
        {
            (format!("`{variable}`"), text)
        } else {
            (
                "the default".to_owned(),
                provider.default_base_url.to_owned(),
            )
        };
        read_base_url(provider, &text).map_err(|why| {
            ModelSetupError::new(
                "OPTIONS_INVALID",
                format!("the base URL of {origin} cannot be used: {why}"),
            )
            .with_hint("write it like `http://127.0.0.1:8080/v1`")
        })
    }

    /// Returns the shared HTTP client.
    ///
    /// Plain HTTP on loopback has one of its own: no proxy stands before it,
    /// and it needs no certificates, whose loading takes most of the set-up.
    fn http(&self, base_url: &Url) -> Result<Client, ModelSetupError> {
        let local = base_url.scheme() == "http" && is_loopback(base_url);
        let cell = if local { &self.loopback } else { &self.remote };
        if let Some(client) = cell.get() {
            return Ok(client.clone());
        }
        let limits = &self.settings.limits;
        let mut builder = crate::tls::http_client()
            .connect_timeout(limits.connect_timeout)
            .tcp_nodelay(true)
            .tcp_keepalive(std::time::Duration::from_secs(30))
            .user_agent(concat!("strandline/", env!("CARGO_PKG_VERSION")))
            // A redirect would carry the key to another host.
            .redirect(Policy::none());
        if local {
            builder = builder.no_proxy().tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| {
            ModelSetupError::new(
                "SETUP_FAILED",
                format!("no HTTP client can be made: {}", error.without_url()),
            )
        })?;
        Ok(cell.get_or_init(|| client).clone())
    }
}

fn supported(name: &str) -> Result<&'static Provider, ModelSetupError> {
    match find_provider(name) {
        Some(provider) if provider.shape == WireShape::Scripted => Err(ModelSetupError::new(
            "MODEL_UNSUPPORTED",
            "a scripted model is written in a case, and the case has no `script`",
        )),
        Some(provider) => Ok(provider),
        None => {
            let known: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name).collect();
            let message = if REFUSED_PROVIDERS.contains(&name) {
                format!("the provider `{name}` is not supported")
            } else {
                format!("the provider `{name}` is not known")
            };
            Err(ModelSetupError::new("MODEL_UNSUPPORTED", message).with_hint(format!(
                "supported: {}; any endpoint of OpenAI's shape works as `openai` with a base URL",
                known.join(", ")
            )))
        }
    }
}

fn key(
    provider: &Provider,
    set: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Secret>, ModelSetupError> {
    if provider.key_variables.is_empty() {
        return Ok(None);
    }
    provider
        .key_variables
        .iter()
        .find_map(|variable| set(variable))
        .map(|key| Some(Secret::new(key)))
        .ok_or_else(|| {
            ModelSetupError::new(
                "CREDENTIALS_MISSING",
                format!(
                    "{} is not set, and models of `{}` need a key",
                    variables(provider),
                    provider.name
                ),
            )
            .with_hint(format!("export {}=…", provider.key_variables[0]))
        })
}

fn variables(provider: &Provider) -> String {
    provider
        .key_variables
        .iter()
        .map(|variable| format!("`{variable}`"))
        .collect::<Vec<_>>()
        .join(" or ")
}

/// Reads a base URL and adds the version that its provider's paths start with.
fn read_base_url(provider: &Provider, text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("it is no http or https URL".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it holds a user name or a password".to_owned());
    }
    url.set_query(None);
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    // Ollama's own variable often ends in its native `/api`.
    let path = match provider.name {
        "ollama" => path.strip_suffix("/api").unwrap_or(&path),
        _ => &path,
    };
    let version = match provider.shape {
        WireShape::Google => "v1beta",
        WireShape::OpenAi | WireShape::Anthropic | WireShape::Scripted => "v1",
    };
    // A bare host, and Anthropic's own convention, leave the version out.
    let versioned = path.rsplit('/').next().is_some_and(|last| {
        last.starts_with('v') && last[1..].starts_with(|c: char| c.is_ascii_digit())
    });
    let adds = match provider.shape {
        WireShape::Anthropic | WireShape::Google => !versioned,
        WireShape::OpenAi | WireShape::Scripted => path.is_empty(),
    };
    let path = if adds {
        format!("{path}/{version}")
    } else {
        path.to_owned()
    };
    url.set_path(&path);
    Ok(url)
}

/// Appends a path to a base URL.
pub(super) fn joined(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    url
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}
