//! Ids of the standard checks (`assertions.md` §9).

use super::vocabulary;

vocabulary! {
    /// A ready-made advisory check that a suite or a run may add to its cases.
    ///
    /// Ids are frozen: members are added, never renamed. A check is filed under
    /// the stage of its kind, not of its id's prefix.
    StandardCheck ("standard check") {
        DiscoveryDescription = "discovery.description", "Description quality",
            "Every listed tool has a description of at least 20 characters.";
        DiscoveryAnnotations = "discovery.annotations", "Tool annotations",
            "Every listed tool has annotations.";
        DiscoveryCollisions = "discovery.collisions", "Name collisions",
            "No server lists the same tool name twice.";
        DiscoveryDeprecated = "discovery.deprecated", "Deprecated tools exposed",
            "No listed tool's description declares itself deprecated.";
        CallSchema = "call.schema", "Input schema quality",
            "Every listed tool's input schema is an object schema whose properties are described.";
        ResponseSchema = "response.schema", "Output schema quality",
            "Every listed tool declares an output schema.";
        SelectionHops = "selection.hops", "Tool hops before the right tool",
            "Fewer than 4 calls are made.";
        CallParameters = "call.parameters", "Parameter validity",
            "The arguments of every call validate against the tool's input schema.";
        CallRepeated = "call.repeated", "Repeated identical calls",
            "No call equals the call immediately before it.";
        ResponsePerformance = "response.performance", "Tool latency",
            "The slowest call took less than 5,000 ms.";
        ResponseSize = "response.size", "Payload size",
            "The largest tool result is smaller than 64,000 bytes.";
        ResponseErrors = "response.errors", "Tool errors (isError)",
            "No tool error was recorded.";
        ResponseRecovery = "response.recovery", "Error messages that help recovery",
            "Every tool error names a parameter or a value that was sent.";
        ResponsePagination = "response.pagination", "Pagination and truncation clarity",
            "Every result as long as the requested page says whether there is more.";
        UserValueTurns = "userValue.turns", "User turns to completion",
            "Fewer than 6 user turns are taken.";
    }
}
