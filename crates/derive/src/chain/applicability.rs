//! Whether a stage applies to a case (`chain.md` §6).

use strandline_contract::words::{CaseMode, Stage, ToolExpectation};

use super::facts::{Facts, some};

impl Facts<'_> {
    /// Returns whether a stage applies; read off the full evidence, also in
    /// branches that ignore evidence.
    pub(super) fn applies(self, stage: Stage) -> bool {
        let authored = self.authored;
        match stage {
            Stage::Connection | Stage::Discovery => true,
            Stage::Selection => authored.mode == CaseMode::ModelDriven,
            Stage::Call => self.call_applies() || some(self.rows_judged_at(Stage::Call)),
            Stage::Response => {
                self.call_applies()
                    || authored.expects_widget_render
                    || self.tool_failure_seen()
                    || some(self.rows_judged_at(Stage::Response))
            }
            Stage::UserValue => {
                authored.assertion_count > 0.0
                    || authored.expects_widget_render
                    || authored.has_user_ask
            }
        }
    }

    fn call_applies(self) -> bool {
        let authored = self.authored;
        authored.expects_tool_call
            || authored.is_negative_test
            || matches!(
                authored.tool_expectation,
                Some(ToolExpectation::Required | ToolExpectation::Open)
            )
    }
}
