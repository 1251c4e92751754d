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
        channels.map(linear_channel)
    }

    /// Returns a channel, 0 to 255, as the light that it gives off, 0 to 1.
    fn linear_channel(channel: f64) -> f64 {
        let part = channel / 255.0;
        if part <= 0.040_45 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
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

    /// A view of a colour: linear red, green and blue from those seen in full.
    type Matrix = [[f64; 3]; 3];

    /// Full sight, and simulations of full colour blindness after Machado,
    /// Oliveira and Fernandes (2009), on linear values.
    const VIEWS: [(&str, Matrix); 4] = [
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

    /// Asserts that colours stay apart in every view by `least` in CIELAB, where
    /// 2.3 is a just noticeable difference.
    fn assert_apart(colours: &[(&str, [f64; 3])], least: f64) {
        for (view, matrix) in VIEWS {
            let seen = |colour| matrix.map(|row| dot(row, colour).clamp(0.0, 1.0));
            for (index, (first, colour)) in colours.iter().enumerate() {
                for (second, other) in &colours[index + 1..] {
                    let (a, b) = (lab(seen(*colour)), lab(seen(*other)));
                    let squares = a.iter().zip(b).map(|(p, q)| (p - q).powi(2));
                    let apart = squares.sum::<f64>().sqrt();
                    assert!(apart > least, "{view}: {first} and {second} {apart:.1}");
                }
            }
        }
    }

    #[test]
    fn inks_stay_apart_under_colour_blindness() {
        let names = ["good", "bad", "unsure", "quiet"];
        let inks: Vec<_> = names.into_iter().zip(INKS.map(linear)).collect();
        assert_apart(&inks, 20.0);
    }

    /// Returns a colour of the stylesheet in the light or the dark theme.
    fn on_pages(token: &str, dark: bool) -> [f64; 3] {
        let stylesheet = crate::html::shell::STYLESHEET;
        let (_, rest) = stylesheet
            .split_once(&format!("--{token}: light-dark("))
            .expect("a colour with two themes");
        let (pair, _) = rest.split_once(')').expect("its end");
        let (light, night) = pair.split_once(", ").expect("two themes");
        let hexadecimal = if dark { night } else { light };
        let channel = |at: usize| {
            let digits = &hexadecimal[at..at + 2];
            let value = u8::from_str_radix(digits, 16).expect("two digits");
            linear_channel(value.into())
        };
        [channel(1), channel(3), channel(5)]
    }

    #[test]
    fn pages_are_readable_in_both_themes_and_under_colour_blindness() {
        for dark in [false, true] {
            let marks = ["good", "bad", "unsure", "grey"].map(|name| (name, on_pages(name, dark)));
            assert_apart(&marks, 18.0);
            let texts = [
                "text",
                "quiet",
                "good",
                "bad",
                "unsure-text",
                "grey",
                "link",
            ];
            for paper in ["paper", "raised", "sunk"] {
                let contrast = |colour| {
                    let (a, b) = (luminance(colour), luminance(on_pages(paper, dark)));
                    (a.max(b) + 0.05) / (a.min(b) + 0.05)
                };
                for text in texts {
                    let contrast = contrast(on_pages(text, dark));
                    assert!(contrast >= 4.5, "{text} on {paper}: {contrast:.2}");
                }
                for (mark, colour) in marks {
                    let contrast = contrast(colour);
                    assert!(contrast >= 3.0, "{mark} on {paper}: {contrast:.2}");
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
