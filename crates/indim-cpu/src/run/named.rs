//! Inputs by name, sorted into the order of the parameters.

use indim_ops::ArrayType;

use crate::run::error::RunError;
use crate::run::executable::Executable;
use indim_arrays::Array;
use indim_arrays::ArrayView;

impl Executable {
    /// The name and type of each input, in the order of the inputs of [`run`](Executable::run).
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = (&str, &ArrayType)> {
        self.parameter_names.iter().map(String::as_str).zip(self.parameters())
    }

    /// Like [`run`](Executable::run), with named inputs in any order.
    ///
    /// ```
    /// use indim_cpu::{ArrayView, CompileOptions, compile};
    /// use indim_ops::DType;
    /// use indim_builder::GraphBuilder;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [2])?;
    /// let m = b.parameter("m", DType::F32, [])?;
    /// let executable = compile(&b.finish(&[x - m])?, &CompileOptions::default())?;
    ///
    /// let m = ArrayView::from_slice([], &[1.0f32])?;
    /// let results = executable.run_named(&[("m", m), ("x", (&[3.0f32, 5.0]).into())])?;
    /// assert_eq!(results[0].elements::<f32>().unwrap(), [2.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Like [`bind`](Executable::bind) and [`run`](Executable::run).
    pub fn run_named(&self, named: &[(&str, ArrayView<'_>)]) -> Result<Vec<Array>, RunError> {
        self.run(&self.bind(named)?)
    }

    /// The arrays in the order of the parameters, as inputs for the methods that run.
    ///
    /// ```
    /// use indim_cpu::{ArrayView, CompileOptions, RunOptions, compile};
    /// use indim_builder::GraphBuilder;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [2])?;
    /// let m = b.parameter("m", DType::F32, [2])?;
    /// let executable = compile(&b.finish(&[x - m])?, &CompileOptions::default())?;
    ///
    /// let (x, m) = ([3.0f32, 5.0], [1.0f32, 1.0]);
    /// let inputs = executable.bind(&[("m", ArrayView::from(&m)), ("x", ArrayView::from(&x))])?;
    /// let results = executable.run_with(&inputs, &RunOptions::default())?;
    /// assert_eq!(results[0].elements::<f32>().unwrap(), [2.0, 4.0]);
    /// assert_eq!(executable.bind(&[("z", inputs[0].clone())]).unwrap_err().code(), "unknown-input");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `unknown-input`, `duplicate-input`, `missing-input`.
    pub fn bind<'a>(
        &self,
        named: &[(&str, ArrayView<'a>)],
    ) -> Result<Vec<ArrayView<'a>>, RunError> {
        let arrays = sort_by_name(&self.parameter_names, named)?;
        let array = |(name, array): (&String, Option<ArrayView<'a>>)| {
            array.ok_or_else(|| RunError::MissingInput { name: name.clone() })
        };
        self.parameter_names.iter().zip(arrays).map(array).collect()
    }
}

/// The arrays in the order of `names`; `None` for a name without an array.
///
/// # Errors
/// `unknown-input`, `duplicate-input`.
pub fn sort_by_name<'a>(
    names: &[String],
    named: &[(&str, ArrayView<'a>)],
) -> Result<Vec<Option<ArrayView<'a>>>, RunError> {
    let mut arrays = vec![None; names.len()];
    for (name, array) in named {
        let Some(position) = names.iter().position(|known| known == name) else {
            let name = (*name).to_owned();
            return Err(RunError::UnknownInput { name, known: names.to_vec() });
        };
        if arrays[position].replace(array.clone()).is_some() {
            return Err(RunError::DuplicateInput { name: (*name).to_owned() });
        }
    }
    Ok(arrays)
}
