//! The sizes of jobs: 32 elements, 64 KiB, 1 MiB and 64 MiB of f32, or the nearest common shapes. A job names
//! one of these tables.

/// The iteration space of a job: rows, over which the hand-written loop runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Space {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// The channels of a picture; else 1.
    pub(crate) channels: usize,
    /// The rows of a picture; else 1.
    pub(crate) height: usize,
}

impl Space {
    pub(crate) fn elements(self) -> usize {
        self.rows * self.columns
    }

    const fn matrix(rows: usize, columns: usize) -> Space {
        Space { rows, columns, channels: 1, height: 1 }
    }

    /// Pictures of three channels, channels last: a row is a row of pixels.
    const fn channels_last([pictures, height, width]: [usize; 3]) -> Space {
        Space { rows: pictures * height, columns: width * 3, channels: 3, height }
    }

    /// Pictures, channels first: a row is one plane of one picture.
    const fn channels_first([pictures, channels, height, width]: [usize; 4]) -> Space {
        Space { rows: pictures * channels, columns: height * width, channels, height }
    }
}

/// Spaces with their names in the command line and the table.
pub(crate) type Sizes = &'static [(&'static str, Space)];

/// Sizes above 64 MiB, measured only on request.
pub(crate) const LARGE: &str = "460MiB";

pub(crate) const MATRICES: Sizes = &[
    ("128B", Space::matrix(4, 8)),
    ("64KiB", Space::matrix(128, 128)),
    ("1MiB", Space::matrix(512, 512)),
    ("64MiB", Space::matrix(4096, 4096)),
];

/// Matrices, and the raster of one satellite scene at 10 metres.
pub(crate) const RASTERS: Sizes =
    &[MATRICES[0], MATRICES[1], MATRICES[2], MATRICES[3], (LARGE, Space::matrix(10980, 10980))];

/// Rows of points with three coordinates; at most 10^7 points.
pub(crate) const POINTS: Sizes = &[
    ("128B", Space::matrix(4, 9)),
    ("64KiB", Space::matrix(128, 129)),
    ("1MiB", Space::matrix(512, 513)),
    ("64MiB", Space::matrix(10_000, 3_000)),
];

/// Rows of complex numbers, at most 10^7.
pub(crate) const COMPLEX: Sizes =
    &[MATRICES[0], MATRICES[1], MATRICES[2], ("64MiB", Space::matrix(3_200, 3_125))];

/// Rows of this many elements.
macro_rules! rows_of {
    ($columns:literal) => {
        &[
            ("128B", Space::matrix(4, $columns)),
            ("64KiB", Space::matrix((1 << 14) / $columns, $columns)),
            ("1MiB", Space::matrix((1 << 18) / $columns, $columns)),
            ("64MiB", Space::matrix((1 << 24) / $columns, $columns)),
        ]
    };
}

pub(crate) const ROWS_OF_3: Sizes = rows_of!(3);
pub(crate) const ROWS_OF_8: Sizes = rows_of!(8);
pub(crate) const ROWS_OF_17: Sizes = rows_of!(17);
pub(crate) const ROWS_OF_100: Sizes = rows_of!(100);
pub(crate) const ROWS_OF_1000: Sizes = rows_of!(1000);

/// All pairs of points; at most 4096 points.
pub(crate) const PAIRS: Sizes = &[
    ("128B", Space::matrix(4, 8)),
    ("64KiB", Space::matrix(128, 128)),
    ("1MiB", Space::matrix(512, 512)),
    ("64MiB", Space::matrix(4096, 4096)),
];

pub(crate) const PICTURES_LAST: Sizes = &[
    ("128B", Space::channels_last([1, 3, 4])),
    ("64KiB", Space::channels_last([1, 74, 74])),
    ("1MiB", Space::channels_last([4, 148, 148])),
    ("64MiB", Space::channels_last([64, 224, 224])),
];

pub(crate) const PICTURES_FIRST: Sizes = &[
    ("128B", Space::channels_first([1, 3, 3, 4])),
    ("64KiB", Space::channels_first([1, 3, 74, 74])),
    ("1MiB", Space::channels_first([4, 3, 148, 148])),
    ("64MiB", Space::channels_first([64, 3, 224, 224])),
];

/// Feature maps between the layers of an image network.
pub(crate) const FEATURES: Sizes = &[
    ("128B", Space::channels_first([1, 2, 4, 4])),
    ("64KiB", Space::channels_first([1, 16, 32, 32])),
    ("1MiB", Space::channels_first([4, 64, 32, 32])),
    ("64MiB", Space::channels_first([64, 256, 56, 56])),
];
