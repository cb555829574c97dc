//! What operations and conversions compute, as bodies: each is recorded once a process.

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use foldhash::HashMap;
use indim_ops::{DType, Op};

use crate::body::Body;
use crate::recorded::record;

/// What is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Definition {
    /// An operation whose last operand has this element type.
    Operation(Op, DType),
    /// A conversion of the first type to the second.
    Conversion(DType, DType),
}

static RECORDED: LazyLock<RwLock<HashMap<Definition, Arc<Body>>>> = LazyLock::new(RwLock::default);

impl Definition {
    /// The body, with an input for each operand; `None` where the operation does not take the type.
    ///
    /// ```
    /// use indim_codegen::Definition;
    /// use indim_ops::{DType, Op};
    /// let body = Definition::Operation(Op::Add, DType::I8).body().unwrap();
    /// assert_eq!(body.interpret(&[[100, 0], [100, 0]]), [[200, 0]]);
    /// ```
    pub fn body(self) -> Option<Arc<Body>> {
        let found = RECORDED.read().unwrap_or_else(PoisonError::into_inner).get(&self).cloned();
        if found.is_some() {
            return found;
        }
        // Two threads may both record, and get the same.
        let body = Arc::new(self.record()?);
        let mut recorded = RECORDED.write().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(recorded.entry(self).or_insert(body)))
    }

    fn record(self) -> Option<Body> {
        match self {
            Definition::Operation(op, dtype) if op.takes(dtype) => {
                let operand = |index| op.operand_dtype(index, dtype);
                let operands: Vec<DType> = (0..op.arity().count()).map(operand).collect();
                Some(record(&operands, |operands| {
                    op.apply(operands).expect("invariant: operands have the signature's types")
                }))
            }
            Definition::Operation(..) => None,
            Definition::Conversion(from, to) => {
                Some(record(&[from], |operands| operands[0].convert(to)))
            }
        }
    }
}
