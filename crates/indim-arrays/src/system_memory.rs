//! Memory mapped by the system: the types of `memmap2`, or substitutes if that feature is off.
//!
//! The substitutes read whole files, and never provide pages, so that callers use the allocator's memory.

#[cfg(feature = "memmap2")]
pub(crate) use memmap2::{Mmap, MmapMut};

#[cfg(not(feature = "memmap2"))]
pub(crate) use substitute::{Mmap, MmapMut};

#[cfg(not(feature = "memmap2"))]
mod substitute {
    use std::fs::File;
    use std::io::{Error, ErrorKind, Read, Result};
    use std::ops::{Deref, DerefMut};

    /// The bytes of a file, read by `map`.
    #[derive(Debug)]
    pub(crate) struct Mmap(Vec<u8>);

    impl Mmap {
        /// Unsafe like `memmap2::Mmap::map`, although this body is safe.
        pub(crate) unsafe fn map(mut file: &File) -> Result<Self> {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(Mmap(bytes))
        }
    }

    impl Deref for Mmap {
        type Target = [u8];
        fn deref(&self) -> &[u8] {
            &self.0
        }
    }

    /// A type without values: the substitute provides no pages.
    #[derive(Debug)]
    pub(crate) enum MmapMut {}

    impl MmapMut {
        pub(crate) fn map_anon(_bytes: usize) -> Result<Self> {
            Err(Error::from(ErrorKind::Unsupported))
        }

        /// Unsafe like `memmap2::MmapMut::map_mut`.
        pub(crate) unsafe fn map_mut(_file: &File) -> Result<Self> {
            Err(Error::from(ErrorKind::Unsupported))
        }

        pub(crate) fn flush_range(&self, _start: usize, _bytes: usize) -> Result<()> {
            match *self {}
        }
    }

    impl Deref for MmapMut {
        type Target = [u8];
        fn deref(&self) -> &[u8] {
            match *self {}
        }
    }

    impl DerefMut for MmapMut {
        fn deref_mut(&mut self) -> &mut [u8] {
            match *self {}
        }
    }
}
