//! The parameters of functions: operands, and attributes by their keywords.

/// A parameter of a function that is not an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttributeKey {
    /// `dims` of an operation under rule xla, or of `broadcast_in_dim`.
    Dims,
    /// One axis: `axis` of an operation under rule pdpd, or of a function such as `iota` or `take`.
    Axis,
    /// The axes of a reduction or a data movement function.
    Axes,
    Shape,
    Sizes,
    Permutation,
    ElementType,
    /// The shift of `roll`.
    Shift,
    /// The widths of `pad`.
    Widths,
    /// The sizes of the windows of `sliding_window_view`.
    WindowShape,
    /// The mode of `pad` or `take`.
    Mode,
    /// The side of `searchsorted`.
    Side,
    /// `n` or `s` of a Fourier transform.
    Lengths,
    /// The normalisation of a Fourier transform.
    Norm,
    /// The axes of `tensordot`.
    SummedAxes,
    /// The axes of the first operand of `tensordot`.
    LeftAxes,
    /// The axes of the second operand of `tensordot`.
    RightAxes,
    /// The equation of `einsum`.
    Equation,
    /// An argument with this keyword, such as a parameter of a composition.
    Argument(&'static str),
}

impl AttributeKey {
    /// All attributes except `Argument`.
    pub(super) const ALL: &[AttributeKey] = &[
        AttributeKey::Dims,
        AttributeKey::Axis,
        AttributeKey::Axes,
        AttributeKey::Shape,
        AttributeKey::Sizes,
        AttributeKey::Permutation,
        AttributeKey::ElementType,
        AttributeKey::Shift,
        AttributeKey::Widths,
        AttributeKey::WindowShape,
        AttributeKey::Mode,
        AttributeKey::Side,
        AttributeKey::Lengths,
        AttributeKey::Norm,
        AttributeKey::SummedAxes,
        AttributeKey::LeftAxes,
        AttributeKey::RightAxes,
        AttributeKey::Equation,
    ];

    /// The keyword, then its aliases.
    pub(super) const fn keywords(self) -> &'static [&'static str] {
        match self {
            AttributeKey::Dims => &["dims", "broadcast_dimensions"],
            AttributeKey::Axis | AttributeKey::Axes => &["axis"],
            AttributeKey::Shape => &["shape"],
            AttributeKey::Sizes => &["sizes", "broadcast_sizes"],
            AttributeKey::Permutation => &["permutation", "axes"],
            AttributeKey::ElementType => &["dtype"],
            AttributeKey::Shift => &["shift"],
            AttributeKey::Widths => &["pad_width"],
            AttributeKey::WindowShape => &["window_shape"],
            AttributeKey::Mode => &["mode"],
            AttributeKey::Side => &["side"],
            AttributeKey::Lengths => &["n", "s"],
            AttributeKey::Norm => &["norm"],
            AttributeKey::SummedAxes => &["axes"],
            AttributeKey::LeftAxes => &["x_axes"],
            AttributeKey::RightAxes => &["y_axes"],
            AttributeKey::Equation => &["equation"],
            AttributeKey::Argument(_) => &[],
        }
    }

    pub(super) const fn keyword(self) -> &'static str {
        match self {
            AttributeKey::Argument(name) => name,
            _ => self.keywords()[0],
        }
    }
}

/// The parameter at a position of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallParameter {
    Operand,
    Attribute(AttributeKey),
}
