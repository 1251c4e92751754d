//! Text to a suite, or every finding at once (`suite-file.md` §1, §2, §8).

use std::sync::Arc;

use strandline_contract::{canonical::sha256_hex, suite::ResolvedSuite};

use crate::{
    finding::{self, Code, FailureStage, Finding},
    lint::{self, Lint},
    resolve,
    rules::{self, Check, Dialect},
    short,
    source::{Lines, Span},
    write::Layout,
    yaml::{self, Node},
};

/// Greatest size of a suite file in bytes.
pub const MAX_FILE_BYTES: usize = 1_048_576;

/// Which keys beyond the public format a reader accepts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extensions {
    /// The public format only: what `validate --portable` asks for.
    None,
    /// Those of `suite-file.md` §9.3 and §10.
    Spec,
    /// Those and Strandline's own: `script`, `execution.session`,
    /// `execution.setupTimeoutMs`, `execution.toolSettleMs`.
    #[default]
    Strandline,
}

/// How to read a suite file.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// Accepted extensions.
    pub extensions: Extensions,
    /// Also read the short form.
    pub short_form: bool,
    /// Length in bytes as the caller measured it; authoritative for the limit.
    pub measured_bytes: Option<u64>,
    /// Name of a short suite that gives none, such as the file's stem.
    pub name: Option<String>,
}

impl LoadOptions {
    /// Reads what a person gives to `strandline run`.
    #[must_use]
    pub fn authored() -> Self {
        Self {
            short_form: true,
            ..Self::default()
        }
    }

    /// Reads what the spec describes and nothing else.
    #[must_use]
    pub fn normative() -> Self {
        Self {
            extensions: Extensions::Spec,
            ..Self::default()
        }
    }

    /// Reads the public format only.
    #[must_use]
    pub fn portable() -> Self {
        Self {
            extensions: Extensions::None,
            ..Self::default()
        }
    }

    /// Names a short suite that gives no name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

/// A suite that was read.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What the file says, no default added.
    pub authored: Authored,
    /// What a run reads, every default applied.
    pub resolved: ResolvedSuite,
    /// What is allowed and still worth a look.
    pub warnings: Vec<Warning>,
    /// SHA-256 of the file's bytes, lowercase hex (§2.5).
    pub source_hash: String,
    /// Bytes of the text that may be secrets and are never shown.
    pub secrets: Vec<Span>,
}

/// A suite file as authored.
#[derive(Debug, Clone)]
pub struct Authored {
    /// Its dialect.
    pub dialect: Dialect,
    /// Its value; for a short file, the dialect-2 file it stands for.
    pub root: Arc<Node>,
    /// Its value as written.
    pub written: Arc<Node>,
    /// It was written in the short form.
    pub short: bool,
    /// Comments and blank lines, for the writer.
    pub(crate) layout: Layout,
}

impl Loaded {
    /// Returns each case's id with the place where it is written.
    pub fn case_places(&self) -> impl Iterator<Item = (&str, Span)> {
        let written = self.authored.written.get("cases");
        let items = written.into_iter().flat_map(|cases| cases.items());
        let places = items.map(|item| item.span());
        let ids = self.resolved.cases.iter().map(|case| case.id.as_str());
        ids.zip(places)
    }

    /// Returns `mcpServers` of the suite file (§9.3).
    #[must_use]
    pub fn server_entries(&self) -> Option<&Node> {
        self.authored.root.get("mcpServers").map(AsRef::as_ref)
    }
}

impl Authored {
    /// Returns whether two files say the same.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        self.short == other.short && self.written.same(&other.written)
    }
}

/// Something that is allowed and still worth a look.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Warning {
    /// Stable word.
    pub code: &'static str,
    /// What and where.
    #[serde(flatten)]
    pub finding: Finding,
}

/// Why a file gave no suite.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadFailure {
    /// At which stage.
    pub stage: FailureStage,
    /// Everything that is wrong, in order; never empty.
    pub findings: Vec<Finding>,
    /// Bytes of the text that may be secrets and are never shown.
    pub secrets: Vec<Span>,
    /// What the text says, when it is one document.
    pub document: Option<Arc<Node>>,
}

/// Reads a suite file.
///
/// # Errors
///
/// Every finding of the first stage that has any, ordered as §2.3 says.
pub fn load(text: &str, options: &LoadOptions) -> Result<Loaded, LoadFailure> {
    let lines = Lines::new(text);
    let fail = |findings: Vec<Finding>| fail(findings, text, &lines);

    let bytes = options.measured_bytes.unwrap_or(text.len() as u64);
    if bytes > MAX_FILE_BYTES as u64 {
        let message = format!("the file has {bytes} bytes, at most {MAX_FILE_BYTES} are allowed");
        return Err(fail(vec![Finding::of_file(Code::TooLarge, message)]));
    }

    let document = yaml::read(text, &lines).map_err(fail)?;
    let secrets = lint::secret_spans(&document.root);
    let fail = |findings| LoadFailure {
        secrets: secrets.clone(),
        document: Some(Arc::clone(&document.root)),
        ..fail(findings)
    };
    let mut check = Check::new(options.extensions);
    let short = short::is_short(&document.root);
    let expanded = (short && options.short_form)
        .then(|| short::expand(&mut check, &document.root, options.name.as_deref()));
    let root = expanded
        .as_ref()
        .map_or(&document.root, |expanded| &expanded.root);
    let own_findings = std::mem::take(&mut check.findings);
    let dialect = rules::file(&mut check, root);
    if let Some(expanded) = &expanded {
        for finding in &mut check.findings {
            expanded.places.take_back(finding);
        }
    } else if short {
        point_to_expand(&mut check.findings);
    }
    check.findings.extend(own_findings);
    let dialect = match dialect {
        Some(dialect) if check.findings.is_empty() => dialect,
        _ => return Err(fail(check.findings)),
    };

    let resolved = resolve::resolve(root, dialect)
        .map_err(|error| fail(vec![Finding::of_file(Code::Invalid, error.0)]))?;
    let lint = Lint {
        document: &document,
        root,
        expanded: expanded.as_ref(),
        resolved: &resolved,
    };
    let warnings = lint.warnings(text, &lines);
    let layout = Layout::of(&document, text, &lines);
    Ok(Loaded {
        authored: Authored {
            dialect,
            root: Arc::clone(root),
            short: expanded.is_some(),
            written: document.root,
            layout,
        },
        resolved,
        warnings,
        source_hash: source_hash(text),
        secrets,
    })
}

/// Returns the SHA-256 of a file's UTF-8 bytes as read, in lowercase hex (§2.5).
#[must_use]
pub fn source_hash(text: &str) -> String {
    sha256_hex(text.as_bytes())
}

/// A short file where only dialect files are read: says what to do.
fn point_to_expand(findings: &mut [Finding]) {
    for finding in findings {
        if finding.pointer == "schemaVersion" {
            let help =
                "this is the short form: `strandline suite expand FILE` writes it as dialect 2";
            finding.help = Some(help.to_owned());
        }
    }
}

fn fail(mut findings: Vec<Finding>, text: &str, lines: &Lines) -> LoadFailure {
    findings.sort_by(finding::order);
    for finding in &mut findings {
        finding.locate(text, lines);
    }
    LoadFailure {
        stage: findings
            .first()
            .map_or(FailureStage::Contract, |finding| finding.code.stage()),
        findings,
        secrets: Vec::new(),
        document: None,
    }
}
