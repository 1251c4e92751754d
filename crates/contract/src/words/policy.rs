//! Words of the tool policy (`suite-file.md` §4.2).

use super::vocabulary;

vocabulary! {
    /// What a tool's annotations say about its effects.
    ToolClassification ("tool classification") {
        ReadOnly = "readOnly", "read-only",
            "The tool declares that it changes nothing.";
        Destructive = "destructive", "destructive",
            "The tool declares that it may destroy something.";
        Unknown = "unknown", "unknown",
            "The tool declares neither, or both at once.";
    }
}

vocabulary! {
    /// Why the tool policy allows or denies a call.
    PolicyReason ("policy reason") {
        DenyList = "denyList", "on the deny list",
            "The suite's policy denies the tool by name.";
        AllowList = "allowList", "on the allow list",
            "The suite's policy allows the tool by name, whatever it declares.";
        DestructiveDefaultDeny = "destructiveDefaultDeny", "declared destructive",
            "The tool declares that it may destroy something, and no name on the allow list overrides that.";
        ReadOnlyModeClassified = "readOnlyModeClassified", "declared read-only",
            "The policy allows read-only tools, and the tool declares that it is one.";
        ReadOnlyModeUnclassified = "readOnlyModeUnclassified", "not declared read-only",
            "The policy allows read-only tools, and the tool does not declare that it is one.";
        ModeDefault = "modeDefault", "allowed by default",
            "No rule restrains the tool.";
        UnknownAtLaunch = "unknownAtLaunch", "not listed at launch",
            "No server listed the tool when the policy was frozen.";
    }
}
