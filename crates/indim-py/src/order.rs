//! NumPy's `order` argument.

use indim::array::Order;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The order that `text` names.
pub(crate) fn parse_order(text: &str) -> PyResult<Order> {
    match text {
        "C" | "c" => Ok(Order::C),
        "F" | "f" => Ok(Order::F),
        "A" | "a" => Ok(Order::A),
        "K" | "k" => Ok(Order::K),
        _ => Err(PyValueError::new_err(format!("`order` is 'C', 'F', 'A' or 'K', not {text:?}"))),
    }
}

/// The text that names an order.
pub(crate) fn order_name(order: Order) -> &'static str {
    match order {
        Order::C => "C",
        Order::F => "F",
        Order::A => "A",
        _ => "K",
    }
}
