//! What each check of `strandline doctor` looks at.

use strandline_contract::{
    binding::ServerBinding,
    exit::ExitCode,
    providers::{Provider, WireShape},
    suite::{ResolvedSuite, Step},
    trace::Lint,
    transcript::{Capture, ToolDeclaration, Transcript},
    words::CheckVerdict,
};
use strandline_derive::{
    assertions::{AssertionsInput, derive_assertions},
    surface::providers::lint_tools,
};
use strandline_engine::mcp::Listing;
use strandline_report::{
    checks::Check,
    words::{counted, duration},
};
use strandline_service::suite_file::SuiteFile;
use strandline_suite::{binding::Environment, model::plan_model, refusal::Refusal};

use crate::probe::{Probe, failure_line, failure_next};

/// A check, and how the process ends when it failed.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) check: Check,
    pub(super) exit: ExitCode,
}

/// The providers that tools are held against.
#[derive(Debug, Default)]
pub(super) struct Providers {
    pub(super) list: Vec<&'static Provider>,
    /// They were named, or the suite uses them: what they refuse is a failure.
    pub(super) demanded: bool,
}

fn finding(
    check: &'static str,
    subject: &str,
    verdict: CheckVerdict,
    detail: impl Into<String>,
) -> Finding {
    Finding {
        check: Check {
            check,
            subject: subject.to_owned(),
            verdict,
            detail: detail.into(),
            findings: Vec::new(),
            next: None,
        },
        exit: ExitCode::Setup,
    }
}

impl Finding {
    fn listing(mut self, findings: Vec<String>) -> Self {
        self.check.findings = findings;
        self
    }

    fn next(mut self, next: impl Into<String>) -> Self {
        self.check.next = Some(next.into());
        self
    }
}

/// The suite was read; whatever is wrong with it was said before.
pub(super) fn suite(suite: &SuiteFile) -> Finding {
    let resolved = &suite.loaded.resolved;
    let warnings = suite.loaded.warnings.len() as u64;
    let enabled = resolved.enabled_cases().count() as u64;
    let detail = format!(
        "{} of {} enabled",
        enabled,
        counted(resolved.cases.len() as u64, "case", "cases")
    );
    let subject = format!("suite {}", suite.name);
    if warnings > 0 {
        let detail = format!(
            "{detail}; {} above",
            counted(warnings, "warning", "warnings")
        );
        return finding("load", &subject, CheckVerdict::Warning, detail);
    }
    finding("load", &subject, CheckVerdict::Ok, detail)
}

/// One check per model that an enabled case asks, and the providers of those
/// that can be reached.
pub(super) fn models(
    suite: &ResolvedSuite,
    environment: Environment<'_>,
) -> (Vec<Finding>, Vec<&'static Provider>) {
    let mut seen: Vec<(&str, Option<&str>)> = Vec::new();
    let mut providers: Vec<&'static Provider> = Vec::new();
    let mut findings = Vec::new();
    for case in suite.enabled_cases() {
        let asks = case
            .steps
            .iter()
            .any(|step| matches!(step, Step::Prompt { .. }));
        let model = (case.model.as_str(), case.provider.as_deref());
        if !asks || seen.contains(&model) {
            continue;
        }
        seen.push(model);
        let subject = format!("model {}", case.model);
        findings.push(match plan_model(model.0, model.1, environment) {
            Ok(plan) => {
                if plan.provider.shape != WireShape::Scripted && !providers.contains(&plan.provider)
                {
                    providers.push(plan.provider);
                }
                let detail = match plan.key_variable {
                    Some(variable) => format!("the key is in `{variable}`; it was not tried"),
                    None if plan.is_scripted() => {
                        "scripted: no key is needed and no model is asked".to_owned()
                    }
                    None => "no key is needed".to_owned(),
                };
                finding("key", &subject, CheckVerdict::Ok, detail)
            }
            Err(refusal) => {
                let hints = refusal.hints.join("; ");
                let mut failed = finding(
                    "key",
                    &subject,
                    CheckVerdict::Failed,
                    refusal.message.clone(),
                );
                failed.exit = refusal.code.exit();
                if hints.is_empty() {
                    failed
                } else {
                    failed.next(hints)
                }
            }
        });
    }
    (findings, providers)
}

/// The servers could not be bound to transports.
pub(super) fn unbound(refusals: &[Refusal], exit: ExitCode) -> Finding {
    let mut messages = refusals.iter().map(|refusal| refusal.message.clone());
    let first = messages.next().unwrap_or_default();
    let hints: Vec<&str> = refusals
        .iter()
        .flat_map(|refusal| &refusal.hints)
        .map(String::as_str)
        .collect();
    let mut failed = finding("bind", "servers", CheckVerdict::Failed, first);
    failed.exit = exit;
    let failed = failed.listing(messages.collect());
    if hints.is_empty() {
        failed
    } else {
        failed.next(hints.join("; "))
    }
}

/// Every check of one server, in the order of the chain.
pub(super) fn server(
    binding: &ServerBinding,
    visit: &Probe,
    providers: &Providers,
) -> Vec<Finding> {
    let subject = format!("server {} ({})", binding.name, binding.transport.kind());
    let subject = subject.as_str();
    let mut findings = vec![connect(subject, visit)];
    let listing = match &visit.listing {
        None => {
            let why = "not connected";
            findings.push(finding("list", subject, CheckVerdict::NotChecked, why));
            None
        }
        Some(Err(failure)) => {
            findings.push(
                finding("list", subject, CheckVerdict::Failed, failure_line(failure))
                    .next(failure_next(failure)),
            );
            None
        }
        Some(Ok(listing)) => {
            findings.push(list(subject, listing));
            Some(listing)
        }
    };
    match listing {
        Some(listing) => {
            findings.extend(surface(subject, &binding.name, listing));
            let held = providers.list.iter().map(|provider| {
                held_against(
                    subject,
                    &binding.name,
                    provider,
                    providers.demanded,
                    listing,
                )
            });
            findings.extend(held);
        }
        None => {
            for (check, _) in RULES {
                findings.push(finding(
                    check,
                    subject,
                    CheckVerdict::NotChecked,
                    "no tool list",
                ));
            }
            for provider in &providers.list {
                findings.push(finding(
                    "provider",
                    subject,
                    CheckVerdict::NotChecked,
                    format!("{}: no tool list", provider.name),
                ));
            }
        }
    }
    findings.push(manners(subject, visit));
    findings
}

fn connect(subject: &str, visit: &Probe) -> Finding {
    match &visit.connected {
        Ok(connected) => {
            let called = connected.called();
            let detail = format!(
                "initialized in {}, protocol {}, {}",
                duration(connected.took_ms as i64),
                connected.protocol_version,
                called.as_deref().unwrap_or("without a name")
            );
            finding("connect", subject, CheckVerdict::Ok, detail)
        }
        Err(failure) => finding(
            "connect",
            subject,
            CheckVerdict::Failed,
            failure_line(failure),
        )
        .next(failure_next(failure)),
    }
}

fn list(subject: &str, listing: &Listing) -> Finding {
    let count = |items: &Option<Vec<serde_json::Value>>, one: &str, many: &str| {
        let items = items.as_ref()?;
        Some(counted(items.len() as u64, one, many))
    };
    let mut parts = vec![format!(
        "{} in {}",
        counted(listing.tools.len() as u64, "tool", "tools"),
        counted(listing.tool_pages, "page", "pages")
    )];
    parts.extend(count(&listing.prompts, "prompt", "prompts"));
    parts.extend(count(&listing.resources, "resource", "resources"));
    let detail = parts.join(", ");
    if listing.tools.is_empty() {
        return finding("list", subject, CheckVerdict::Warning, detail)
            .next("without tools only negative cases and prompts can be run");
    }
    finding("list", subject, CheckVerdict::Ok, detail)
}

/// Rules about the tool list that change no verdict here, and what to do.
const RULES: [(&str, &str); 4] = [
    ("names", "give every tool its own name"),
    (
        "describe",
        "say in each description what the tool does and when to use it",
    ),
    (
        "schemas",
        "declare each input as an object whose properties are described",
    ),
    (
        "hints",
        "declare `readOnlyHint` or `destructiveHint`, so that policies can tell tools apart",
    ),
];
const RULE_KINDS: [&str; 4] = [
    "toolNamesUnique",
    "toolDescriptionsPresent",
    "toolInputSchemasWellFormed",
    "toolAnnotationsPresent",
];

fn surface(subject: &str, server: &str, listing: &Listing) -> Vec<Finding> {
    let input = AssertionsInput {
        transcript: Transcript {
            tool_declarations: Some(
                listing
                    .tools
                    .iter()
                    .filter_map(|tool| ToolDeclaration::from_listed(server, tool))
                    .collect(),
            ),
            capture: Some(Capture::COMPLETE),
            ..Transcript::default()
        },
        rules: RULE_KINDS
            .iter()
            .map(|kind| serde_json::json!({ "type": kind }))
            .collect(),
    };
    derive_assertions(&input)
        .rows
        .into_iter()
        .zip(RULES)
        .map(|(row, (check, next))| {
            if row.passed {
                finding(check, subject, CheckVerdict::Ok, row.reason)
            } else {
                finding(check, subject, CheckVerdict::Warning, row.reason).next(next)
            }
        })
        .collect()
}

/// Codes of what a provider refuses outright; the rest is aliased or lost.
const REFUSED: [&str; 4] = [
    "providerToolCount",
    "providerRootKeyword",
    "providerArrayItems",
    "providerParameterName",
];

fn held_against(
    subject: &str,
    server: &str,
    provider: &Provider,
    demanded: bool,
    listing: &Listing,
) -> Finding {
    let lints = lint_tools(server, provider, &listing.tools);
    let name = provider.name;
    if lints.is_empty() {
        let detail = format!("{name}: takes every tool as it is");
        return finding("provider", subject, CheckVerdict::Ok, detail);
    }
    let refused = lints
        .iter()
        .any(|lint| REFUSED.contains(&lint.code.as_str()));
    let detail = format!(
        "{name}: {}{}",
        counted(lints.len() as u64, "finding", "findings"),
        if refused {
            ", a request with these tools is refused"
        } else {
            ""
        }
    );
    let (verdict, next) = if refused {
        let next = "change the schemas, or deny those tools with `toolPolicy.deny`";
        let failed = if demanded {
            CheckVerdict::Failed
        } else {
            CheckVerdict::Warning
        };
        (failed, next)
    } else {
        let next = "nothing has to be done: names are aliased, and lost constraints are recorded";
        (CheckVerdict::Warning, next)
    };
    finding("provider", subject, verdict, detail)
        .listing(lints.iter().map(lint_line).collect())
        .next(next)
}

/// What the server did on the wire that it should not.
fn manners(subject: &str, visit: &Probe) -> Finding {
    let lints: Vec<&Lint> = visit
        .lints
        .iter()
        .filter(|lint| lint.code != "noTools")
        .collect();
    if lints.is_empty() {
        return match &visit.connected {
            Ok(_) => finding(
                "wire",
                subject,
                CheckVerdict::Ok,
                "nothing out of order was seen",
            ),
            Err(_) => finding("wire", subject, CheckVerdict::NotChecked, "not connected"),
        };
    }
    let detail = counted(lints.len() as u64, "finding", "findings");
    finding("wire", subject, CheckVerdict::Warning, detail)
        .listing(lints.into_iter().map(lint_line).collect())
        .next("these are tolerated and recorded; other clients may not tolerate them")
}

fn lint_line(lint: &Lint) -> String {
    match &lint.tool_name {
        Some(tool) => format!("{tool}: {} ({})", lint.message, lint.code),
        None => format!("{} ({})", lint.message, lint.code),
    }
}
