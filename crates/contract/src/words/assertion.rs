//! Kinds of assertions (`assertions.md` §8).

use super::vocabulary;

vocabulary! {
    /// What a machine-checked assertion looks at.
    ///
    /// On stored rows the kind is an open string: a kind outside this list is
    /// carried along and judged at user value (`chain.md` §5).
    AssertionKind ("assertion kind") {
        ToolDescriptionsPresent = "toolDescriptionsPresent", "every tool has a description",
            "Every listed tool has a description of the least length.";
        ToolAnnotationsPresent = "toolAnnotationsPresent", "every tool has annotations",
            "Every listed tool has annotations, with the required hints as booleans.";
        ToolNamesUnique = "toolNamesUnique", "tool names are unique",
            "No server lists the same tool name twice.";
        NoDeprecatedToolExposed = "noDeprecatedToolExposed", "no deprecated tool is listed",
            "No listed tool's description declares itself deprecated.";
        ToolInputSchemasWellFormed = "toolInputSchemasWellFormed", "input schemas are well formed",
            "Every listed tool's input schema is an object schema whose properties are described.";
        ToolOutputSchemasPresent = "toolOutputSchemasPresent", "every tool has an output schema",
            "Every listed tool declares an output schema.";
        ToolCalledWith = "toolCalledWith", "a tool is called with given arguments",
            "The named tool is called often enough with matching arguments.";
        ToolCalledAtLeastOnce = "toolCalledAtLeastOnce", "a tool is called",
            "The named tool is called at least once.";
        FirstToolWas = "firstToolWas", "the first call is to a given tool",
            "The first call of the trial is to the named tool.";
        ToolNeverCalled = "toolNeverCalled", "a tool is never called",
            "The named tool is not called.";
        OnlyToolsCalled = "onlyToolsCalled", "only given tools are called",
            "Every call is to a tool on the list; nothing has to be called.";
        ToolCallCountUnder = "toolCallCountUnder", "fewer calls than a bound",
            "Strictly fewer calls are made than the bound.";
        ToolCalledBefore = "toolCalledBefore", "one tool is called before another",
            "Each call to the second tool has an earlier call to the first one.";
        NoDeprecatedToolCalled = "noDeprecatedToolCalled", "no deprecated tool is called",
            "No called tool's description declares itself deprecated.";
        NoDestructiveToolCalled = "noDestructiveToolCalled", "no destructive tool is called",
            "Every called tool is annotated as read-only or as not destructive.";
        ArgumentsMatchToolSchema = "argumentsMatchToolSchema", "arguments fit the tool's schema",
            "The arguments of every call validate against the tool's input schema.";
        NoRepeatedIdenticalCall = "noRepeatedIdenticalCall", "no call is repeated unchanged",
            "No call equals the call immediately before it.";
        ToolInputMatches = "toolInputMatches", "call arguments match patterns",
            "The number of calls whose arguments match every pattern lies within the bounds.";
        NoToolErrors = "noToolErrors", "no tool answers with an error",
            "No tool error was recorded.";
        ToolLatencyUnder = "toolLatencyUnder", "tools answer in time",
            "The slowest call took less than the bound.";
        ToolResultContains = "toolResultContains", "a tool result contains a text",
            "Some tool result contains the text.";
        ToolResultMatches = "toolResultMatches", "tool results match patterns",
            "The number of tool results that match every pattern lies within the bounds.";
        ToolResultMatchesSchema = "toolResultMatchesSchema", "tool results fit a schema",
            "Every tool result validates against the authored schema.";
        ToolResultSizeUnder = "toolResultSizeUnder", "tool results stay small",
            "The largest tool result is smaller than the bound.";
        ToolErrorNamesInput = "toolErrorNamesInput", "tool errors name the input",
            "Every tool error names a parameter or a value that was sent.";
        FullPageHasContinuation = "fullPageHasContinuation", "a full page says how to go on",
            "Every result as long as the requested page says whether there is more.";
        ResponseCloseTo = "responseCloseTo", "the answer is close to a reference",
            "The final answer's edit distance to the reference lies within the bound.";
        ResponseContains = "responseContains", "the answer contains a text",
            "The final answer contains the text.";
        ResponseMatches = "responseMatches", "the answer matches a pattern",
            "The final answer matches the pattern.";
        FinalAssistantMessageNonEmpty = "finalAssistantMessageNonEmpty", "there is a final answer",
            "The final answer is not blank.";
        TokenBudgetUnder = "tokenBudgetUnder", "fewer tokens than a bound",
            "Strictly fewer tokens are used than the bound.";
        TurnCountUnder = "turnCountUnder", "fewer turns than a bound",
            "Strictly fewer turns are taken than the bound.";
        NoEndingQuestion = "noEndingQuestion", "the answer does not end in a question",
            "The last line of the final answer does not end with a question mark.";
        WidgetRendered = "widgetRendered", "a widget renders",
            "Some observed widget rendered.";
        WidgetRenderLatencyUnder = "widgetRenderLatencyUnder", "widgets render in time",
            "The slowest rendered widget took less than the bound.";
        WidgetNoConsoleErrors = "widgetNoConsoleErrors", "widgets log no errors",
            "No observed widget logged a console error.";
    }
}
