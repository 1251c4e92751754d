//! How a surface may look: colour or none, glyphs or ASCII, and how wide.
//!
//! Colour never carries meaning alone: whatever is painted is also a glyph or
//! a word, so text without colour and glyphs states the same facts.

use std::fmt::Display;

use anstyle::{Ansi256Color, Color, Effects};

/// Whether colour may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// No escape sequence at all.
    Off,
    /// ANSI sequences with the 256-colour palette.
    Ansi,
}

/// Which characters marks are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    /// Symbols such as `●` and `✖`.
    Unicode,
    /// Letters and punctuation only.
    Ascii,
}

/// How text is rendered for one surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether colour may be used.
    pub colour: Colour,
    /// Which characters marks are made of.
    pub glyphs: Glyphs,
    /// Width in columns; text is laid out for 60 to 200.
    pub width: usize,
}

/// The narrowest and the widest layout that is made.
const WIDTHS: (usize, usize) = (60, 200);

impl Style {
    /// Returns a style without colour and glyphs: dumb terminals, `NO_COLOR`.
    #[must_use]
    pub const fn ascii(width: usize) -> Self {
        Self {
            colour: Colour::Off,
            glyphs: Glyphs::Ascii,
            width,
        }
    }

    /// Returns a style with glyphs and without colour: files and pipes.
    #[must_use]
    pub const fn plain(width: usize) -> Self {
        Self {
            colour: Colour::Off,
            glyphs: Glyphs::Unicode,
            width,
        }
    }

    /// Returns a style with colour and glyphs: terminals.
    #[must_use]
    pub const fn colour(width: usize) -> Self {
        Self {
            colour: Colour::Ansi,
            glyphs: Glyphs::Unicode,
            width,
        }
    }

    /// Returns the width that text is laid out for, 60 to 200 columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.width.clamp(WIDTHS.0, WIDTHS.1)
    }

    /// Returns `text` in `ink`, or unchanged without colour.
    #[must_use]
    pub fn paint(&self, ink: Ink, text: impl Display) -> String {
        match self.colour {
            Colour::Off => text.to_string(),
            Colour::Ansi => {
                let style = ink.style();
                format!("{}{text}{}", style.render(), style.render_reset())
            }
        }
    }

    /// Returns the character for `unicode`, or its ASCII stand-in.
    #[must_use]
    pub const fn mark(&self, unicode: &'static str, ascii: &'static str) -> &'static str {
        match self.glyphs {
            Glyphs::Unicode => unicode,
            Glyphs::Ascii => ascii,
        }
    }

    /// Returns the separator between facts on one line.
    #[must_use]
    pub const fn dot(&self) -> &'static str {
        self.mark("·", "-")
    }
}

/// The palette: each ink has one meaning.
///
/// Teal, vermilion and amber stay apart under the common forms of colour
/// blindness and keep a contrast of at least 3:1 on black and on white.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Held: teal.
    Good,
    /// Did not hold: vermilion.
    Bad,
    /// Undecided although reached: amber.
    Unsure,
    /// Nothing known or nothing to know: grey.
    Quiet,
    /// Does not apply: faint grey.
    Faint,
    /// What the eye should find first: bold.
    Strong,
}

impl Ink {
    fn style(self) -> anstyle::Style {
        let colour = |index| Some(Color::Ansi256(Ansi256Color(index)));
        let style = anstyle::Style::new();
        match self {
            Self::Good => style.fg_color(colour(31)),
            Self::Bad => style.fg_color(colour(166)),
            Self::Unsure => style.fg_color(colour(137)),
            Self::Quiet => style.fg_color(colour(244)),
            Self::Faint => style.fg_color(colour(244)).effects(Effects::DIMMED),
            Self::Strong => style.effects(Effects::BOLD),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INKS: [Ink; 4] = [Ink::Good, Ink::Bad, Ink::Unsure, Ink::Quiet];

    /// Linear red, green and blue of an ink.
    fn linear(ink: Ink) -> [f64; 3] {
        let Some(Color::Ansi256(Ansi256Color(index))) = ink.style().get_fg_color() else {
            panic!("{ink:?} has no colour");
        };
        let level = |step: u8| [0.0, 95.0, 135.0, 175.0, 215.0, 255.0][usize::from(step)];
        let channels = if index >= 232 {
            [f64::from(8 + 10 * (u16::from(index) - 232)); 3]
        } else {
            let cube = index - 16;
            [level(cube / 36), level(cube / 6 % 6), level(cube % 6)]
        };
        channels.map(|channel: f64| {
            let part = channel / 255.0;
            if part <= 0.040_45 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        })
    }

    fn dot(row: [f64; 3], colour: [f64; 3]) -> f64 {
        row.iter().zip(colour).map(|(a, b)| a * b).sum()
    }

    fn luminance(colour: [f64; 3]) -> f64 {
        dot([0.2126, 0.7152, 0.0722], colour)
    }

    /// CIELAB coordinates under D65.
    fn lab(colour: [f64; 3]) -> [f64; 3] {
        let curve = |t: f64| {
            if t > 0.008_856 {
                t.cbrt()
            } else {
                7.787 * t + 16.0 / 116.0
            }
        };
        let x = curve(dot([0.4124, 0.3576, 0.1805], colour) / 0.9505);
        let y = curve(luminance(colour));
        let z = curve(dot([0.0193, 0.1192, 0.9505], colour) / 1.089);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn every_ink_is_readable_on_black_and_on_white() {
        for ink in INKS {
            let on_black = (luminance(linear(ink)) + 0.05) / 0.05;
            let on_white = 1.05 / (luminance(linear(ink)) + 0.05);
            assert!(on_black >= 3.0, "{ink:?} on black: {on_black:.2}");
            assert!(on_white >= 3.0, "{ink:?} on white: {on_white:.2}");
        }
    }

    /// Simulations of full colour blindness after Machado, Oliveira and
    /// Fernandes (2009), on linear values.
    #[test]
    fn inks_stay_apart_under_colour_blindness() {
        type Matrix = [[f64; 3]; 3];
        let views: [(&str, Matrix); 4] = [
            (
                "full sight",
                [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            ),
            (
                "protanopia",
                [
                    [0.152_286, 1.052_583, -0.204_868],
                    [0.114_503, 0.786_281, 0.099_216],
                    [-0.003_882, -0.048_116, 1.051_998],
                ],
            ),
            (
                "deuteranopia",
                [
                    [0.367_322, 0.860_646, -0.227_968],
                    [0.280_085, 0.672_501, 0.047_413],
                    [-0.011_820, 0.042_940, 0.968_881],
                ],
            ),
            (
                "tritanopia",
                [
                    [1.255_528, -0.076_749, -0.178_779],
                    [-0.078_411, 0.930_809, 0.147_602],
                    [0.004_733, 0.691_367, 0.303_900],
                ],
            ),
        ];
        for (view, matrix) in views {
            let seen = |ink| matrix.map(|row| dot(row, linear(ink)).clamp(0.0, 1.0));
            for (index, first) in INKS.iter().enumerate() {
                for second in &INKS[index + 1..] {
                    let (a, b) = (lab(seen(*first)), lab(seen(*second)));
                    let apart = a
                        .iter()
                        .zip(b)
                        .map(|(p, q)| (p - q).powi(2))
                        .sum::<f64>()
                        .sqrt();
                    // 2.3 is a just noticeable difference.
                    assert!(apart > 20.0, "{view}: {first:?} and {second:?} {apart:.1}");
                }
            }
        }
    }

    #[test]
    fn without_colour_nothing_is_added() {
        assert_eq!(Style::plain(80).paint(Ink::Bad, "x"), "x");
        assert_eq!(
            Style::colour(80).paint(Ink::Bad, "x"),
            "\x1b[38;5;166mx\x1b[0m"
        );
    }
}
