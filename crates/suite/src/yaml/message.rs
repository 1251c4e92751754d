//! The parser's errors in words for people.

use granit_parser::ErrorKind;

use super::printable::Printable;

/// What to say about a syntax error.
pub(super) struct Words {
    /// What is wrong.
    pub(super) message: String,
    /// What to do about it, under the place.
    pub(super) label: Option<String>,
}

/// Puts an error of the parser into words.
pub(super) fn words(kind: &ErrorKind, max_depth: usize, printable: &Printable<'_>) -> Words {
    let (message, label) = match kind {
        ErrorKind::TabInIndentation
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabNotAllowed
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => (
            "YAML does not indent with tabs".to_owned(),
            Some("use spaces"),
        ),
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => (
            "a quoted text is not closed".to_owned(),
            Some("the text is still open here"),
        ),
        ErrorKind::UnclosedFlowCollection { open } => {
            (format!("`{open}` is not closed"), Some("still open here"))
        }
        ErrorKind::UnexpectedEofFlowSequence => ("`[` is not closed".to_owned(), Some("ends here")),
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            ("`{` is not closed".to_owned(), Some("ends here"))
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => (
            format!("`{open}` is closed by `{close}`"),
            Some("the wrong bracket"),
        ),
        ErrorKind::MisplacedFlowCollectionEnd => (
            "a closing bracket that closes nothing".to_owned(),
            Some("nothing is open here"),
        ),
        ErrorKind::ExpectedFlowSequenceSeparator => {
            ("a `,` or `]` is missing".to_owned(), Some("before this"))
        }
        ErrorKind::ExpectedFlowMappingSeparator => {
            ("a `,` or `}` is missing".to_owned(), Some("before this"))
        }
        ErrorKind::UnexpectedCharacter { character } => (
            format!(
                "a text cannot start with `{}` unless it is quoted",
                printable.character(*character).escape_debug()
            ),
            Some("quote the text"),
        ),
        ErrorKind::UnknownQuotedScalarEscape => (
            "an unknown escape in a double-quoted text".to_owned(),
            Some("write `\\\\` for a backslash, or use single quotes"),
        ),
        ErrorKind::InvalidLowSurrogate
        | ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate
        | ErrorKind::InvalidUnicodeEscape => (
            "this escape is not a character".to_owned(),
            Some("surrogate escapes come in pairs"),
        ),
        ErrorKind::MappingValueNotAllowed | ErrorKind::SimpleKeyExpected => (
            "a `:` or a line that does not fit here".to_owned(),
            Some("check the indentation, or quote a text that holds `: `"),
        ),
        ErrorKind::InvalidColonPlacement => (
            "a `:` does not fit here".to_owned(),
            Some("is a bracket above still open?"),
        ),
        ErrorKind::InvalidTrailingDoubleQuotedScalar
        | ErrorKind::InvalidTrailingSingleQuotedScalar => (
            "more text after a closing quote".to_owned(),
            Some("put the whole text in quotes"),
        ),
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::InvalidIndentation
        | ErrorKind::BlockSequenceEntryNotAllowed => (
            "this line does not fit the lines above it".to_owned(),
            Some("check the indentation"),
        ),
        ErrorKind::RecursionLimitExceeded => (
            format!("values are nested deeper than {max_depth} levels"),
            None,
        ),
        other => (format!("not valid YAML: {other}"), None),
    };
    Words {
        message,
        label: label.map(str::to_owned),
    }
}
