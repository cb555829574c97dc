//! The checksum CRC-32C (Castagnoli), eight bytes at a time.

/// The reflected polynomial.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// Entry `b` of table `i` is the checksum of the byte `b` followed by `i` zero bytes, without the
/// inversions of its initial value and its result.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ POLYNOMIAL } else { sum >> 1 };
            bit += 1;
        }
        tables[0][byte] = sum;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

/// The checksum of some bytes.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let (eights, rest) = bytes.as_chunks::<8>();
    let sum = eights.iter().fold(!0, |sum: u32, eight| {
        let word = u64::from_le_bytes(*eight) ^ u64::from(sum);
        let bytes = word.to_le_bytes();
        (0..8).fold(0, |sum, at| sum ^ TABLES[7 - at][usize::from(bytes[at])])
    });
    let step = |sum: u32, &byte: &u8| sum >> 8 ^ TABLES[0][usize::from(sum as u8 ^ byte)];
    !rest.iter().fold(sum, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_rfc_3720() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(b""), 0);
    }
}
