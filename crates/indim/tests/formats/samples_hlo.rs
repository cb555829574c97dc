//! The samples of HLO, in the folder that `INDIM_FORMAT_SAMPLES` names.

use crate::support::samples::Samples;
use crate::support::xla;

#[test]
fn samples_give_what_they_should() {
    if let Some(samples) = Samples::open() {
        xla::run_all(&samples, "hlo", &[]);
    }
}

#[test]
fn damaged_files_give_an_error_at_their_line() {
    if let Some(samples) = Samples::open() {
        xla::read_damaged(&samples, "hlo");
    }
}
