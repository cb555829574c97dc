//! The geographic position and missing-data value of a grid, as GeoTIFF and GDAL tags record them.

/// The tags of a file that say where on the earth its grid lies, and what of it is missing, as they stand
/// there. Those of a GeoTIFF are written to a result of the same height and width.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Geography {
    /// The height and the width of the grid.
    pub(crate) size: [usize; 2],
    pub(crate) tags: Vec<GeoTag>,
}

/// A tag as it is written: with its type, how many values there are, and their bytes in the order of this
/// machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GeoTag {
    pub(crate) number: u16,
    pub(crate) of_type: u16,
    pub(crate) count: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Geography {
    /// Whether the file says where its grid lies, or what of it is missing.
    ///
    /// ```
    /// use indim_stores::Geography;
    ///
    /// assert!(Geography::default().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// Whether the tags hold of a result of this height and width.
    ///
    /// ```
    /// use indim_stores::Geography;
    ///
    /// assert!(!Geography::default().fits(2, 3));
    /// ```
    pub fn fits(&self, height: usize, width: usize) -> bool {
        self.size == [height, width]
    }
}
