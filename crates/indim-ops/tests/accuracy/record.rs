//! The record of measured accuracies, `measured.txt`.

/// Measured accuracy of a function at one type: a line of `measured.txt`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FunctionLine {
    pub(crate) name: String,
    pub(crate) dtype: String,
    /// In ULP for f32, in floats from the nearest one for the others.
    pub(crate) error: f64,
    pub(crate) tried: u64,
    pub(crate) not_nearest: u64,
    pub(crate) sample_checksum: Option<u64>,
    /// Over all arguments, if all were tried.
    pub(crate) checksum: Option<u64>,
}

const HEADER: &str = "\
# Measured by examples/accuracy.rs: function, type, largest error, arguments tried, results that
# are not the nearest float; for f32 the checksums over the sample and, if all were tried, over all arguments.
# The error is in ULP for f32, for the others in floats from the correctly rounded result.
";

impl FunctionLine {
    /// The lines of a record; those that cannot be read are left out.
    pub(crate) fn read_all(text: &str) -> Vec<FunctionLine> {
        text.lines().filter_map(Self::read).collect()
    }

    fn read(line: &str) -> Option<FunctionLine> {
        let mut words = line.split_ascii_whitespace();
        let mut word = || words.next();
        let (name, dtype) = (word()?.to_owned(), word()?.to_owned());
        let error = word()?.parse().ok()?;
        let (tried, not_nearest) = (word()?.parse().ok()?, word()?.parse().ok()?);
        let mut checksum = || u64::from_str_radix(word()?, 16).ok();
        let (sample_checksum, checksum) = (checksum(), checksum());
        Some(FunctionLine { name, dtype, error, tried, not_nearest, sample_checksum, checksum })
    }

    /// The record with these lines.
    pub(crate) fn write_all(lines: &[FunctionLine]) -> String {
        lines.iter().fold(HEADER.to_owned(), |text, line| text + &line.write())
    }

    /// The line of a record.
    pub(crate) fn write(&self) -> String {
        let FunctionLine { name, dtype, error, tried, not_nearest, .. } = self;
        let mut line = format!("{name:9} {dtype:4} {error:6.4} {tried:10} {not_nearest:9}");
        for checksum in self.sample_checksum.iter().chain(&self.checksum) {
            line += &format!(" {checksum:016x}");
        }
        line + "\n"
    }
}
