//! Numbers, times and ids in words: with unit, and with what they are out of.

/// Returns `count` with the noun that fits it; the singular only for exactly 1.
#[must_use]
pub fn counted(count: u64, singular: &str, plural: &str) -> String {
    let noun = if count == 1 { singular } else { plural };
    format!("{count} {noun}")
}

/// Returns a fraction as a percentage: whole where it is whole, else with one
/// decimal.
#[must_use]
pub fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if (percent - percent.round()).abs() < 1e-9 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// Returns the time between two moments, ms since the Unix epoch.
#[must_use]
pub fn duration(milliseconds: i64) -> String {
    let milliseconds = milliseconds.max(0);
    let seconds = milliseconds / 1_000;
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..10_000 => format!("{seconds}.{} s", milliseconds % 1_000 / 100),
        10_000..120_000 => format!("{seconds} s"),
        120_000..7_200_000 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

/// A moment in Coordinated Universal Time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Utc {
    /// For people: `2026-12-01 14:28 UTC`.
    pub text: String,
    /// For machines (RFC 3339): `2026-12-01T14:28:50Z`.
    pub iso: String,
}

/// Returns a moment, ms since the Unix epoch, in the Gregorian calendar.
#[must_use]
pub fn utc(milliseconds: i64) -> Utc {
    const DAY: i64 = 86_400;
    let seconds = milliseconds.div_euclid(1_000);
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    // Years begin in March here, so that a leap day ends one: then the start of
    // a month is a plain formula. 719,468 days lie between 0000-03-01 and 1970.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    let date = format!("{year:04}-{month:02}-{day:02}");
    Utc {
        text: format!("{date} {hour:02}:{minute:02} UTC"),
        iso: format!("{date}T{hour:02}:{minute:02}:{:02}Z", second % 60),
    }
}

/// Returns a list of trial numbers with runs of three or more closed up:
/// `1–4, 7`.
#[must_use]
pub fn ranges(numbers: &[u32], dash: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = numbers;
    while let [first, ..] = rest {
        let length = rest
            .windows(2)
            .take_while(|pair| pair[0].checked_add(1) == Some(pair[1]))
            .count()
            + 1;
        if length >= 3 {
            parts.push(format!("{first}{dash}{}", rest[length - 1]));
            rest = &rest[length..];
        } else {
            parts.push(first.to_string());
            rest = &rest[1..];
        }
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!(counted(0, "trial", "trials"), "0 trials");
        assert_eq!(counted(1, "trial", "trials"), "1 trial");
        assert_eq!(counted(2, "trial", "trials"), "2 trials");
    }

    #[test]
    fn percentages_keep_one_decimal_where_they_need_it() {
        assert_eq!(percent(0.04), "4 %");
        assert_eq!(percent(1.0 / 3.0), "33.3 %");
        assert_eq!(percent(0.29), "29 %");
        assert_eq!(percent(1.0), "100 %");
    }

    #[test]
    fn times_are_as_exact_as_they_are_long() {
        for (milliseconds, text) in [
            (-5, "0 ms"),
            (999, "999 ms"),
            (1_250, "1.2 s"),
            (41_300, "41 s"),
            (125_000, "2 min 5 s"),
            (7_260_000, "2 h 1 min"),
        ] {
            assert_eq!(duration(milliseconds), text);
        }
    }

    #[test]
    fn moments_are_dates_of_the_gregorian_calendar() {
        for (seconds, iso) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_796_135_330, "2026-12-01T14:28:50Z"),
        ] {
            assert_eq!(utc(seconds * 1_000).iso, iso);
        }
        assert_eq!(utc(1_796_135_330_000).text, "2026-12-01 14:28 UTC");
    }

    #[test]
    fn runs_of_numbers_are_closed_up() {
        assert_eq!(ranges(&[1, 2, 3, 4, 7], "–"), "1–4, 7");
        assert_eq!(ranges(&[1, 2, 4], "–"), "1, 2, 4");
        assert_eq!(ranges(&[], "–"), "");
        assert_eq!(ranges(&[u32::MAX], "–"), u32::MAX.to_string());
    }
}
