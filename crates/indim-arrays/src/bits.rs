//! Equality and hashes of arrays, by the bits of their elements.

use core::hash::{Hash, Hasher};
use std::hash::DefaultHasher;
use std::sync::Arc;

use crate::array::Array;

impl Array {
    /// The bytes of each element, in row-major order.
    fn elements_bytes(&self) -> impl Iterator<Item = &[u8]> {
        let size = self.dtype().size();
        self.row_major_offsets().map(move |offset| &self.bytes()[offset..][..size])
    }

    fn hash_bytes(&self) -> u64 {
        let mut state = DefaultHasher::new();
        match self.is_row_major() {
            true => state.write(self.bytes()),
            false => state.write(&self.elements_bytes().flatten().copied().collect::<Vec<u8>>()),
        }
        state.finish()
    }
}

impl PartialEq for Array {
    fn eq(&self, other: &Self) -> bool {
        if self.array_type() != other.array_type() {
            return false;
        }
        if self.byte_strides() != other.byte_strides() {
            return self.elements_bytes().eq(other.elements_bytes());
        }
        Arc::ptr_eq(self.memory(), other.memory()) || self.bytes() == other.bytes()
    }
}

impl Eq for Array {}

impl Hash for Array {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.array_type().hash(state);
        // Arrays that share memory have the same elements in the same order.
        self.memory().hash.get_or_init(|| self.hash_bytes()).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::ArrayError;
    use indim_ops::{ArrayType, DType};

    fn hash(array: &Array) -> u64 {
        let mut state = DefaultHasher::new();
        array.hash(&mut state);
        state.finish()
    }

    #[test]
    fn arrays_are_equal_and_hashed_by_bits() {
        let ending_in = |last: f32| {
            let mut elements = vec![0.0f32; 64];
            elements[63] = last;
            Array::new([64], elements).unwrap()
        };
        let arrays = [0.0, -0.0, 1.0, f32::NAN, -f32::NAN].map(ending_in);
        assert_eq!(arrays.iter().map(hash).collect::<HashSet<u64>>().len(), arrays.len());
        for (index, array) in arrays.iter().enumerate() {
            assert_eq!(arrays.iter().position(|other| other == array), Some(index));
        }
        assert_eq!(hash(&arrays[3]), hash(&ending_in(f32::NAN)));
        assert_eq!(arrays[3], ending_in(f32::NAN));
    }

    #[test]
    fn arrays_of_different_types_differ() {
        let flat = Array::new([4], vec![0i32; 4]).unwrap();
        let square = flat.reshaped([2, 2]).unwrap();
        let floats = Array::new([4], vec![0.0f32; 4]).unwrap();
        assert!(flat != square && flat != floats);
        assert!(hash(&flat) != hash(&square) && hash(&flat) != hash(&floats));
    }

    #[test]
    fn the_order_in_memory_does_not_matter() {
        let rows = Array::new([2, 3], vec![1u8, 2, 3, 4, 5, 6]).unwrap();
        let columns = Array::filled_column_major(ArrayType::new(DType::U8, [2, 3]), |bytes| {
            bytes.copy_from_slice(&[1, 4, 2, 5, 3, 6]);
            Ok::<(), ArrayError>(())
        });
        let columns = columns.unwrap();
        assert_eq!((&rows, hash(&rows)), (&columns, hash(&columns)));
        assert_eq!(columns.reshaped([6]).unwrap(), rows.reshaped([6]).unwrap());
    }

    #[test]
    fn a_written_array_has_another_hash_and_leaves_its_clones() {
        let mut x = Array::new([2], vec![1i32, 2]).unwrap();
        let (before, old) = (hash(&x), x.clone());
        x.elements_in_memory_mut::<i32>().unwrap()[0] = 7;
        assert_ne!(hash(&x), before);
        assert_eq!((hash(&old), old.elements::<i32>().unwrap()), (before, &[1, 2][..]));
        x.elements_in_memory_mut::<i32>().unwrap()[0] = 1;
        assert_eq!((hash(&x), x), (before, old));
    }
}
