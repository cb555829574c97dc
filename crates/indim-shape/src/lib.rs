//! temporary
/// temporary
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shape(Vec<usize>);
impl<const N: usize> From<[usize; N]> for Shape { fn from(s: [usize; N]) -> Self { Shape(s.to_vec()) } }
impl core::fmt::Display for Shape { fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result { write!(f, "{:?}", self.0) } }
/// temporary
#[derive(Debug)] pub struct ShapeError;
#[allow(missing_docs)]
impl Shape { pub fn scalar() -> Self { Shape(vec![]) } 
 pub fn element_count(&self) -> Result<usize, ShapeError> { Ok(self.0.iter().product()) }
 pub fn byte_count(&self, s: usize) -> Result<usize, ShapeError> { Ok(self.0.iter().product::<usize>() * s) } }
