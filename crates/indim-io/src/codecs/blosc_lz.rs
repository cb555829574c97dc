//! Decompressor of BloscLZ: runs of literal bytes, and matches with earlier output.

/// The largest value of the 13 bits of a distance. Two more bytes follow this value, which are added to
/// it.
const MAX_SHORT_DISTANCE: usize = 8191;

/// Decompresses into `to` and returns the number of bytes written; `None` if the data is damaged.
pub(super) fn decompress(from: &[u8], to: &mut [u8]) -> Option<usize> {
    let mut input = from.iter().copied().map(usize::from);
    let mut written = 0;
    let mut control = input.next()? & 31;
    loop {
        if control < 32 {
            let literals = to.get_mut(written..written + control + 1)?;
            for literal in literals {
                *literal = u8::try_from(input.next()?).ok()?;
                written += 1;
            }
        } else {
            let (length, distance) = parse_match(control, &mut input)?;
            let end = written.checked_add(length).filter(|&end| end <= to.len())?;
            let mut source = written.checked_sub(distance)?;
            while written < end {
                to[written] = to[source];
                (written, source) = (written + 1, source + 1);
            }
        }
        match input.next() {
            Some(next) => control = next,
            None => return Some(written),
        }
    }
}

/// The length and the distance of a match.
fn parse_match(control: usize, input: &mut impl Iterator<Item = usize>) -> Option<(usize, usize)> {
    let mut length = (control >> 5) - 1;
    if length == 6 {
        loop {
            let more = input.next()?;
            length += more;
            if more != 255 {
                break;
            }
        }
    }
    let (high, low) = ((control & 31) << 8, input.next()?);
    let distance = match (high, low) {
        (0x1f00, 255) => MAX_SHORT_DISTANCE + (input.next()? << 8) + input.next()?,
        _ => high + low,
    };
    Some((length + 3, distance + 1))
}
