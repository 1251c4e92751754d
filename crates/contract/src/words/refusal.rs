//! Why a run was not started, or not finished (`suite-file.md` §9.5).

use super::vocabulary;
use crate::exit::ExitCode;

vocabulary! {
    /// Why a run could not be carried out.
    ///
    /// Validation and setup come before any trial; nothing is started until
    /// every check before it has passed (`suite-file.md` §9.4).
    RefusalCode ("refusal code") {
        SuiteFileInvalid = "SUITE_FILE_INVALID", "the suite file is not valid",
            "The file breaks a rule of suite files. Each finding says where.";
        CaseSelectionInvalid = "CASE_SELECTION_INVALID", "the selected cases cannot be run",
            "A selected case is unknown, named twice or disabled, or no case is left to run.";
        CaseInvalid = "CASE_INVALID", "a case contradicts itself",
            "A case asks for what cannot be: a blank prompt, or a call in a case whose right answer is to call nothing.";
        CaseUnsupported = "CASE_UNSUPPORTED", "a case needs what this version cannot do",
            "A case needs a browser, which this version does not have.";
        JudgeUnsupported = "JUDGE_UNSUPPORTED", "a required judge cannot be asked",
            "A case requires the verdict of an LLM judge that this run cannot ask.";
        ImportIneligible = "IMPORT_INELIGIBLE", "an imported case may not be run",
            "A converted case is not close enough to its source, or its approval does not fit.";
        TargetUnsupported = "TARGET_UNSUPPORTED", "the target is not a server",
            "The suite names a hosted environment and no server; a local run needs servers.";
        ServerBindingInvalid = "SERVER_BINDING_INVALID", "an entry for a server is not usable",
            "The entry that says how a server is reached is malformed, or its name is used twice.";
        ModelUnsupported = "MODEL_UNSUPPORTED", "the model's provider is not known",
            "No provider can be told from the model's name, or the provider is not supported.";
        InferenceConflict = "INFERENCE_CONFLICT", "two providers are named",
            "The model names one provider and the suite's defaults name another.";
        HostTemplateUnknown = "HOST_TEMPLATE_UNKNOWN", "a host profile is not known",
            "A host profile was asked for that does not exist.";
        OptionsInvalid = "OPTIONS_INVALID", "the command line contradicts itself",
            "An option has no usable value, or two options exclude each other.";
        ServerBindingMissing = "SERVER_BINDING_MISSING", "nothing says how to reach a server",
            "The suite names a server and no source has an entry for it.";
        ServerConnectFailed = "SERVER_CONNECT_FAILED", "a server could not be connected",
            "The server did not start, did not answer, or refused the session.";
        ToolCatalogFailed = "TOOL_CATALOG_FAILED", "a server's tools could not be listed",
            "The server was connected and its list of tools could not be read.";
        ToolNameConflict = "TOOL_NAME_CONFLICT", "two servers list the same tool",
            "Two servers of the suite list a tool of the same name, so a call would be ambiguous.";
        ToolPolicyInvalid = "TOOL_POLICY_INVALID", "the tool policy names an unknown tool",
            "The policy denies a tool that no server lists.";
        CredentialsMissing = "CREDENTIALS_MISSING", "a credential is not set",
            "The environment holds no key for a model provider, or a credentials file cannot be read.";
        CredentialsRejected = "CREDENTIALS_REJECTED", "a credential was rejected",
            "The model provider or a server refused the credential.";
        BillingRefused = "BILLING_REFUSED", "the account cannot pay",
            "The provider refused for reasons of billing or quota.";
        AiPolicyRefused = "AI_POLICY_REFUSED", "a policy forbids the run",
            "A policy of the account or the organization forbids the run.";
        PlatformUnavailable = "PLATFORM_UNAVAILABLE", "a hosted service cannot be reached",
            "A service that the run depends on cannot be reached.";
        SetupTimeout = "SETUP_TIMEOUT", "setup took too long",
            "A server was not ready within the setup budget.";
        SetupFailed = "SETUP_FAILED", "setup failed",
            "Something that a run needs before its first trial is not there, such as an environment variable.";
        Cancelled = "CANCELLED", "the run was cancelled",
            "Someone stopped the run.";
        ReportInvalid = "REPORT_INVALID", "the report does not hold",
            "The run's own documents contradict each other, so no decision is shown.";
        InternalError = "INTERNAL_ERROR", "Strandline failed",
            "A fault of Strandline itself.";
    }
}

impl RefusalCode {
    /// Returns how a process that ends with this code exits (§9.5).
    #[must_use]
    pub const fn exit(self) -> ExitCode {
        match self {
            // Usage, unsupported, import.
            Self::SuiteFileInvalid
            | Self::CaseSelectionInvalid
            | Self::CaseInvalid
            | Self::CaseUnsupported
            | Self::JudgeUnsupported
            | Self::ImportIneligible
            | Self::TargetUnsupported
            | Self::ServerBindingInvalid
            | Self::ModelUnsupported
            | Self::InferenceConflict
            | Self::HostTemplateUnknown
            | Self::OptionsInvalid
            // Policy.
            | Self::ToolPolicyInvalid
            | Self::AiPolicyRefused => ExitCode::Usage,
            Self::CredentialsMissing | Self::CredentialsRejected => ExitCode::Credentials,
            // Setup and billing.
            Self::ServerBindingMissing
            | Self::ServerConnectFailed
            | Self::ToolCatalogFailed
            | Self::ToolNameConflict
            | Self::BillingRefused
            | Self::PlatformUnavailable
            | Self::SetupTimeout
            | Self::SetupFailed => ExitCode::Setup,
            // Cancelled, integrity, internal.
            Self::Cancelled | Self::ReportInvalid | Self::InternalError => ExitCode::NoDecision,
        }
    }
}
