//! The GeoTIFF and GDAL tags of a grid: its geographic position and its missing-data value.

/// The geographic position and missing-data value of a grid, as uninterpreted GeoTIFF and GDAL tags. A TIFF
/// result of the same height and width inherits them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Geography {
    /// The height and the width of the grid.
    pub size: [usize; 2],
    /// The tags.
    pub tags: Vec<GeoTag>,
}

/// A TIFF tag: its number, type, number of values, and their bytes in native byte order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeoTag {
    /// Number of the tag.
    pub number: u16,
    /// TIFF's number of the type of its values.
    pub value_type: u16,
    /// Number of values.
    pub count: u64,
    /// Bytes of the values.
    pub bytes: Vec<u8>,
}

impl Geography {
    /// Whether there are no tags.
    ///
    /// ```
    /// use indim_io::Geography;
    ///
    /// assert!(Geography::default().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// Whether the tags apply to a result of this height and width.
    ///
    /// ```
    /// use indim_io::Geography;
    ///
    /// assert!(!Geography::default().fits(2, 3));
    /// ```
    pub fn fits(&self, height: usize, width: usize) -> bool {
        self.size == [height, width]
    }
}
