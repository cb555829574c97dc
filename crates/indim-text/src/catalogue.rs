//! The catalogue of operations, compositions, reductions, products, data movement, random numbers and Fourier
//! transforms, for `docs/ops.md` and `indim ops`.

use indim_builder::{Composition, Reduction};
use indim_graph::parameter::Parameter;
use indim_ops::fourier::function::FourierFunction;
use indim_ops::{Accuracy, DType, DTypeClass, Op, accuracies, is_called};

use crate::expression::{
    DATA_MOVEMENT, DataMovementRow, PRODUCT_OPERANDS, PRODUCTS, ProductRow, RANDOM, RandomRow,
    other_names,
};
use crate::suggest::closest;

/// The kind of a catalogue entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryKind {
    /// An operation of the table.
    Operation,
    /// An element-wise function composed of several operations.
    Composition,
    /// A function along axes.
    Reduction,
    /// Data movement: a function that rearranges, joins, gathers, scatters, sorts or searches arrays.
    DataMovement,
    /// A product of arrays.
    Product,
    /// Random numbers from a key.
    Random,
    /// A Fourier transform.
    Fourier,
}

/// The description of an operation or function.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// The names of the operands.
    pub operands: &'static [&'static str],
    /// The call with its parameters and their defaults: `elu(x, alpha=1.0)`.
    pub call: String,
    /// The parameters after the operands.
    pub parameters: Vec<Parameter>,
    /// The accepted element types, as classes (P `bool`, S signed, U unsigned, F float, C complex), or by
    /// name if only some types of a class are accepted; and the classes of the results if these differ.
    pub types: String,
    /// The documentation, with edge cases.
    pub doc: &'static str,
    /// Other names in expressions.
    pub other_names: Vec<&'static str>,
    /// The kind of the entry.
    pub kind: EntryKind,
}

/// The operand names of operations and compositions.
const OPERANDS: [&str; 3] = ["x", "y", "z"];

/// All operations, compositions, reductions, products, data movement, random numbers and Fourier transforms,
/// in the order of their tables.
///
/// ```
/// use indim_text::catalogue::entries;
///
/// let elu = entries().find(|entry| entry.name == "elu").unwrap();
/// assert_eq!(elu.call, "elu(x, alpha=1.0)");
/// assert_eq!(elu.types, "F");
/// ```
pub fn entries() -> impl Iterator<Item = Entry> {
    let operation = |op: &Op| Entry {
        name: op.name(),
        operands: &OPERANDS[..op.arity().count()],
        call: call(op.name(), &OPERANDS[..op.arity().count()], None, &[]),
        parameters: Vec::new(),
        types: op_types(*op),
        doc: op.doc(),
        other_names: other_names(op.name(), op.aliases()),
        kind: EntryKind::Operation,
    };
    let composition = |composition: &Composition| Entry {
        name: composition.name(),
        operands: &OPERANDS[..composition.arity().count()],
        call: call(
            composition.name(),
            &OPERANDS[..composition.arity().count()],
            None,
            composition.parameters(),
        ),
        parameters: composition.parameters().to_vec(),
        types: types(|dtype| composition.takes(dtype), |dtype| composition.result_dtype(dtype)),
        doc: composition.doc(),
        other_names: other_names(composition.name(), composition.aliases()),
        kind: EntryKind::Composition,
    };
    let axis_entry = |function: &Reduction| Entry {
        name: function.name(),
        operands: function.operands(),
        call: call(
            function.name(),
            function.operands(),
            Some(function.default_axes()),
            &function.arguments(),
        ),
        parameters: function.arguments(),
        types: types(|dtype| function.takes(dtype), |dtype| dtype),
        doc: function.doc(),
        other_names: function.aliases().to_vec(),
        kind: EntryKind::Reduction,
    };
    let operations = Op::ALL.iter().map(operation);
    let compositions = Composition::ALL.iter().map(composition);
    let axis_functions = Reduction::ALL.iter().map(axis_entry);
    let data_movement = [slices()].into_iter().chain(DATA_MOVEMENT.iter().map(movement));
    let products = PRODUCTS.iter().map(product);
    let random = RANDOM.iter().map(random);
    operations
        .chain(compositions)
        .chain(axis_functions)
        .chain(products)
        .chain(data_movement)
        .chain(random)
        .chain(FourierFunction::ALL.iter().map(fourier))
}

fn random(function: &'static RandomRow) -> Entry {
    Entry {
        name: function.name,
        operands: function.operands,
        call: function.call.to_owned(),
        parameters: Vec::new(),
        types: function.types.to_owned(),
        doc: function.doc,
        other_names: Vec::new(),
        kind: EntryKind::Random,
    }
}

fn fourier(function: &'static FourierFunction) -> Entry {
    Entry {
        name: function.name,
        operands: &OPERANDS[..1],
        call: function.call.to_owned(),
        parameters: Vec::new(),
        types: function.types.to_owned(),
        doc: function.doc,
        other_names: Vec::new(),
        kind: EntryKind::Fourier,
    }
}

fn product(product: &'static ProductRow) -> Entry {
    Entry {
        name: product.name,
        operands: PRODUCT_OPERANDS,
        call: product.call.to_owned(),
        parameters: Vec::new(),
        types: "any".to_owned(),
        doc: product.doc,
        other_names: Vec::new(),
        kind: EntryKind::Product,
    }
}

fn movement(function: &'static DataMovementRow) -> Entry {
    Entry {
        name: function.name,
        operands: function.operands,
        call: function.call.to_owned(),
        parameters: Vec::new(),
        types: function.types.to_owned(),
        doc: function.doc,
        other_names: function.aliases.to_vec(),
        kind: EntryKind::DataMovement,
    }
}

/// The entry for the index syntax, which is not a function.
fn slices() -> Entry {
    Entry {
        name: "x[...]",
        operands: &["x"],
        call: "x[start:stop:step, ...]".to_owned(),
        parameters: Vec::new(),
        types: "any".to_owned(),
        doc: "Python's indices: whole numbers, slices with steps, `None`, `...`, and arrays of integers. \
              Slices move nothing.",
        other_names: Vec::new(),
        kind: EntryKind::DataMovement,
    }
}

/// The text of a call. `axes` are the default axes of a reduction, where `Some(None)` means all axes.
fn call(
    name: &str,
    operands: &[&str],
    axes: Option<Option<&[i64]>>,
    parameters: &[Parameter],
) -> String {
    let operands = operands.iter().map(|name| (*name).to_owned());
    let axis = axes.map(|axes| match axes {
        Some([axis]) => format!("axis={axis}"),
        Some(axes) => format!("axis={axes:?}"),
        None => "axis=None".to_owned(),
    });
    let parameters = parameters.iter().map(|parameter| match parameter.default() {
        Some(default) => format!("{}={default}", parameter.name()),
        None => parameter.name().to_owned(),
    });
    let arguments: Vec<String> = operands.chain(axis).chain(parameters).collect();
    format!("{name}({})", arguments.join(", "))
}

/// The entry with this name or other name, in any spelling.
///
/// # Errors
/// If no entry has this name. The error is a similar name, if one exists.
pub fn find(name: &str) -> Result<Entry, Option<&'static str>> {
    let is_meant = |entry: &Entry| is_called(name, entry.name, &entry.other_names);
    let names = || entries().flat_map(|entry| [vec![entry.name], entry.other_names].concat());
    entries().find(is_meant).ok_or_else(|| closest(name, names()))
}

impl Entry {
    /// The measured accuracy for each element type. Empty if results are exact or correctly rounded, and for
    /// functions composed of several operations, because each of these has its own accuracy.
    pub fn accuracy(&self) -> Vec<Accuracy> {
        accuracies().filter(|accuracy| accuracy.name == self.name).collect()
    }
}

fn op_types(op: Op) -> String {
    let first = if op.first_is_bool() { "P, " } else { "" };
    first.to_owned() + &types(|dtype| op.takes(dtype), |dtype| op.result_dtype(dtype))
}

/// Accepted classes and result classes: `S F C → component`, `F C → P`.
fn types(takes: impl Fn(DType) -> bool, result: impl Fn(DType) -> DType) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut is_predicate = false;
    for class in DTypeClass::ALL {
        let dtypes_of_class = || DType::ALL.iter().copied().filter(|dtype| dtype.class() == class);
        let accepted: Vec<DType> = dtypes_of_class().filter(|&dtype| takes(dtype)).collect();
        let Some(&first) = accepted.first() else { continue };
        let name = match accepted.len() == dtypes_of_class().count() {
            true => class.letter().to_owned(),
            false => accepted.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(" "),
        };
        is_predicate |= first != DType::Bool && result(first) == DType::Bool;
        words.push(match result(first) {
            same if same == first || same == DType::Bool => name,
            _ if class == DTypeClass::Complex => format!("{name} → component"),
            _ => format!("{name} → C"),
        });
    }
    words.join(" ") + if is_predicate { " → P" } else { "" }
}
