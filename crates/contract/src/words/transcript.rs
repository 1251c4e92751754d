//! Words of the transcript that assertions read (`assertions.md` §6).

use super::vocabulary;

vocabulary! {
    /// Whether a channel of a transcript can be trusted to be whole.
    ///
    /// `complete` means that no row was dropped, not that every call has one.
    CaptureState ("capture state") {
        Complete = "complete", "complete",
            "Somebody looked, and no row was dropped.";
        Partial = "partial", "partial",
            "Rows were dropped, so an absent row proves nothing.";
        Absent = "absent", "absent",
            "Nobody looked, so the channel says nothing.";
    }
}

vocabulary! {
    /// How a tool call went wrong.
    ToolErrorKind ("tool error kind") {
        ContentError = "content-error", "the tool's own error",
            "The tool answered, and its answer says it is an error.";
        ProtocolError = "protocol-error", "protocol error",
            "The call ended in a JSON-RPC or transport error instead of a result.";
    }
}

vocabulary! {
    /// Where the duration of a tool call was read.
    TimingProvenance ("timing provenance") {
        Span = "span", "span",
            "A span of the trace timed the call.";
        Evidence = "evidence", "evidence",
            "The producer reported the duration with the result.";
    }
}

vocabulary! {
    /// What a result's size was measured on.
    SizeBasis ("size basis") {
        ModelVisibleOutput = "model_visible_output", "what the model was given",
            "The size of the output that the model read.";
        RawResult = "raw_result", "the raw result",
            "The size of the result as the server sent it.";
    }
}

vocabulary! {
    /// What became of a widget that a tool call asked for.
    RenderStatus ("render status") {
        Rendered = "rendered", "rendered",
            "The widget was mounted and drew something.";
        NoUiResource = "no_ui_resource", "no widget resource",
            "The tool names no widget resource.";
        ResourceReadFailed = "resource_read_failed", "resource could not be read",
            "The widget's resource was not answered usably.";
        MountFailed = "mount_failed", "could not be mounted",
            "The widget's document could not be mounted.";
        BridgeTimeout = "bridge_timeout", "bridge timed out",
            "The widget never reported that it was ready.";
        RenderError = "render_error", "render error",
            "The widget threw while it was drawn.";
        BlankScreenshot = "blank_screenshot", "drew nothing",
            "The widget was mounted and its picture is blank.";
        ScreenshotFailed = "screenshot_failed", "no picture",
            "No picture of the widget could be taken.";
        BrowserUnavailable = "browser_unavailable", "no browser",
            "No browser was there to draw the widget.";
    }
}
